import { type JobHelpers, Logger, parseCronItems, type Runner, run } from 'graphile-worker'
import type pg from 'pg'
import type { Logger as Pino } from 'pino'
import { Check } from 'typebox/schema'
import type { Ctx } from '../api/ctx.ts'
import { connectionOptions } from '../db/connection.ts'
import { DatabaseLost, mapConnectionError } from '../db/connection-errors.ts'
import { Activity } from '../kernel/activity.ts'
import { Failure } from '../kernel/failure.ts'
import { lacksRoom } from '../kernel/full-disk.ts'
import { within } from '../kernel/late.ts'
import { enqueue, type Job } from './job.ts'
import { JobShares, sharesOfRow } from './job-shares.ts'
import { jobsAtOnce, Limits, slowJobsAtOnce } from './limits.ts'
import { RunnerPool } from './runner-pool.ts'
import { Throttle } from './throttle.ts'
import { ended, probeNamed, Watch, type WatchTimes } from './watch.ts'
import { lockHolders, moveToPresent, removeQueues, replacedJobs } from './worker-internals.ts'

/** Milliseconds. */
export type RunnerTimes = WatchTimes & {
  /** Maximum time until the first job is taken. */
  readonly start: number
  /** Timeout of a database connection. */
  readonly connect: number
}

const usualTimes: RunnerTimes = { start: 30_000, connect: 10_000, probe: 15_000, idle: 60_000 }

export type JobRunnerOptions = {
  databaseUrl: string
  jobs: readonly Job<any>[]
  /** Creates the context of a job, without a caller. */
  open: () => Promise<Ctx>
  log: Pino
  /** Number of jobs that run at once, apart from slow ones. */
  concurrency?: number
  throttle?: Throttle
  activity?: Activity
  /** Called at most once, when the runner takes no more jobs and cannot recover. */
  onBroken: (error: Error) => void
  times?: RunnerTimes
}

export type JobRunner = {
  /** Waits for running jobs or hands them back, then closes the connections. */
  stop(): Promise<void>
}

/** The level of a message of graphile-worker. It warns at each start that there are more slots than connections, as is intended: a job holds one only briefly. */
const levelOf = (level: string, message: string): 'debug' | 'warn' | 'error' => {
  if (level === 'warning') return message.includes('maxPoolSize') ? 'debug' : 'warn'
  return level === 'error' ? 'error' : 'debug'
}

/** Slots that only certain jobs use, in a runner of graphile-worker of their own. */
type Lane = {
  readonly jobs: readonly Job<any>[]
  readonly concurrency: number
  readonly probe: Job
  /** Milliseconds between looks of a free slot for a job that is due; one that is due when it is enqueued does not wait for them. */
  readonly pollInterval: number
  readonly watch: Watch
  /** How callers share the slots. Slow jobs have limits instead. */
  readonly shares?: JobShares
}

/**
 * Runs queued jobs until stopped, slow ones in slots of their own. Resolves after a first job of each kind was taken, because a
 * runner whose first connections fail may never take any. Rejects with `DatabaseLost` if none was taken in time; that runner takes no
 * more, and the process may start another one.
 */
export async function startJobs(options: JobRunnerOptions): Promise<JobRunner> {
  const {
    databaseUrl,
    jobs,
    open,
    log,
    concurrency = jobsAtOnce,
    onBroken,
    times = usualTimes,
    throttle = new Throttle(),
    activity = new Activity(),
  } = options
  const pool = openPool(databaseUrl, times, log)
  const lanes = lanesOf(jobs, concurrency, { times, open, log })
  const parts = { open, log, throttle, limits: new Limits(), activity }
  const started: { readonly lane: Lane; readonly runner: Runner }[] = []
  const start = async () => {
    await mapConnectionError(releaseJobs(pool, jobs))
    for (const lane of lanes) {
      const runner = await startLane(pool, lane, parts)
      // `watch` and `stop` handle its end; without this, an earlier end would be an unhandled rejection.
      runner.promise.catch(() => {})
      started.push({ lane, runner })
    }
  }
  const starting = start()
  const stop = async () => {
    for (const { watch } of lanes) watch.end()
    await Promise.all(started.map(({ runner }) => runner.stop()))
  }
  try {
    await takenWithin(times.start, starting)
    const taken = ({ lane, runner }: (typeof started)[number]) =>
      Promise.race([lane.watch.firstTaken, runner.promise.then(() => Promise.reject(ended()))])
    await takenWithin(times.start, Promise.all(started.map(taken)))
    let isBroken = false
    const broken = (error: Error) => {
      if (isBroken) return
      isBroken = true
      onBroken(error)
    }
    for (const { lane, runner } of started) lane.watch.begin(runner, broken)
    const closed = Promise.allSettled(started.map(({ runner }) => runner.promise)).then(() => pool.end())
    return {
      async stop() {
        await stop()
        await closed.catch(() => {})
      },
    }
  } catch (error) {
    const stopped = starting.then(stop, stop).catch(() => {})
    for (const { watch } of lanes) watch.end()
    await within(giveUpMs, stopped, () => {})
    // Without a pool the runners can take no more jobs.
    pool.end().catch(() => {})
    throw error
  }
}

function openPool(databaseUrl: string, times: RunnerTimes, log: Pino): RunnerPool {
  const pool = new RunnerPool({
    ...connectionOptions(databaseUrl, 'jobs'),
    max: connections,
    statement_timeout: 0,
    connectionTimeoutMillis: times.connect,
  })
  const broke = (error: Error) => log.warn({ err: error }, 'a connection of the job runner broke')
  pool.on('error', broke)
  pool.on('connect', (client) => client.on('error', broke))
  return pool
}

/** Quick jobs have slots that callers share, and slow ones a few of their own. */
function lanesOf(
  jobs: readonly Job<any>[],
  concurrency: number,
  watched: { readonly times: RunnerTimes; readonly open: () => Promise<Ctx>; readonly log: Pino },
): readonly Lane[] {
  const laneOf = (lane: Omit<Lane, 'watch'>, saves: boolean): Lane => ({
    ...lane,
    watch: new Watch({ ...lane, ...watched, saves }),
  })
  const quick = {
    jobs: jobs.filter((job) => !job.slow),
    concurrency,
    probe: probeNamed('probe_of_the_runner'),
    pollInterval: 1000,
    shares: new JobShares(concurrency),
  }
  const slow = {
    jobs: jobs.filter((job) => job.slow),
    concurrency: slowJobsAtOnce,
    probe: probeNamed('probe_of_slow_jobs'),
    pollInterval: 4000,
  }
  return [laneOf(quick, true), laneOf(slow, false)]
}

async function startLane(
  pool: RunnerPool,
  { jobs, concurrency, probe, pollInterval, watch, shares }: Lane,
  { activity, ...parts }: Omit<RunParts, 'shares' | 'row'> & { readonly activity: Activity },
): Promise<Runner> {
  await watch.queueProbe()
  const taskOf = (job: Job<any>) => (payload: unknown, helpers: JobHelpers) =>
    watch.taking(async () => {
      const end = activity.begin('jobs')
      await runJob(job, payload, { ...parts, shares, row: helpers.job }).finally(end)
    })
  return mapConnectionError(
    run({
      pgPool: pool,
      concurrency,
      noHandleSignals: true,
      pollInterval,
      ...(shares && { forbiddenFlags: () => shares.usedUp }),
      logger: new Logger(() => (level, message) => parts.log[levelOf(level, message)](message)),
      taskList: {
        [probe.name]: () => watch.taking(async () => {}),
        ...Object.fromEntries(jobs.map((job) => [job.name, taskOf(job)])),
      },
      parsedCronItems: cronItems(jobs),
    }),
  )
}

/** Each lane listens on one. Free slots look for jobs at the same time, with short statements, which take turns on the others. */
const connections = 2 + 3

/** Milliseconds between the attempts of a job that needs room on a full disk. They do not count. */
const roomMs = 60_000

/** Maximum time for a runner that failed to start to stop. */
const giveUpMs = 2000

/** Resolves as `work` does; rejects with `DatabaseLost` after `ms`. */
const takenWithin = <T>(ms: number, work: Promise<T>): Promise<T> =>
  within(ms, work, (): never => {
    throw new DatabaseLost(new Failure('unavailable', `No job was taken within ${ms / 1000} s`))
  })

type RunParts = Pick<JobRunnerOptions, 'open' | 'log'> & {
  throttle: Throttle
  limits: Limits
  shares: JobShares | undefined
  row: { readonly attempts: number; readonly max_attempts: number; readonly flags: object | null }
}

async function runJob(job: Job<any>, payload: unknown, parts: RunParts): Promise<void> {
  if (!Check(job.input, payload)) throw new Error(`${job.name}: invalid input: ${JSON.stringify(payload)}`)
  const { row, shares } = parts
  const { share, caller } = sharesOfRow(row.flags)
  const ctx = forCaller(await parts.open(), caller)
  // Waiting is no attempt, but the earlier ones count: a job that ends the process is not tried for ever.
  const attempts = row.max_attempts - row.attempts + 1
  const later = (delayMs: number) => ctx.transaction((tx) => enqueue(tx, { ...job, attempts }, payload, delayMs))
  const leave = shares ? shares.enter(share) : () => {}
  // Several slots took a job at the same moment.
  if (!leave) return void (await later(0))
  try {
    await runInTurn(job, payload, ctx, later, parts)
  } catch (error) {
    // Slow jobs may be what fills the disk: their attempts become rarer.
    if (job.slow || !lacksRoom(error)) throw error
    parts.log.warn({ err: error, job: job.name, input: payload }, 'a job waits for room on the disk')
    await later(roomMs).catch(() => Promise.reject(error))
  } finally {
    leave()
  }
}

/** The jobs that a job enqueues use the share of the same caller. */
const forCaller = (ctx: Ctx, share: string | undefined): Ctx =>
  share === undefined ? ctx : { ...ctx, transaction: (work) => ctx.transaction((tx) => work({ ...tx, share })) }

async function runInTurn(
  job: Job<any>,
  payload: any,
  ctx: Ctx,
  later: (delayMs: number) => Promise<number>,
  { log, throttle, limits, row }: RunParts,
): Promise<void> {
  const key = job.throttled ? job.key?.(payload) : undefined
  const delayMs = key === undefined ? 0 : throttle.delayMs(key)
  if (delayMs > 0) return void (await later(delayMs))
  const alone = job.alone?.(payload)
  const limited = {
    ...(await job.limits?.(payload, ctx, sharesOfRow(row.flags).share)),
    ...(alone !== undefined && { [alone]: 1 }),
  }
  const entered = Object.keys(limited).length > 0 ? limits.enter(job.key!(payload), limited) : undefined
  if (entered && 'retryMs' in entered) return void (await later(entered.retryMs))
  const began = performance.now()
  const run = () => job.run(payload, ctx)
  await (key === undefined ? run() : throttle.run(key, run)).finally(entered?.leave)
  const tookMs = performance.now() - began
  log[job.every ? 'debug' : 'info']({ job: job.name, input: payload, duration_ms: Math.round(tookMs) }, 'job done')
}

const cronItems = (jobs: readonly Job<any>[]) =>
  parseCronItems(
    jobs.flatMap((job) =>
      job.every
        ? [
            {
              task: job.name,
              match: job.every.cron,
              payload: job.every.input as Record<string, unknown>,
              options: {
                maxAttempts: job.attempts,
                // At most one pending run, even if the clock was set forward and many are due at once.
                ...(job.key && { jobKey: job.key(job.every.input), jobKeyMode: 'preserve_run_at' as const }),
              },
            },
          ]
        : [],
    ),
  )

/**
 * Releases the jobs of runners that were killed: there is one runner at a time, so whatever is locked now is held by none.
 * Otherwise they, and all jobs of their queue, would wait for four hours.
 */
async function releaseJobs(pool: pg.Pool, jobs: readonly Job<any>[]): Promise<void> {
  // The first start creates the tables.
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('graphile_worker.jobs') is not null as there`,
  )
  if (!rows[0]!.there) return
  await moveToPresent(pool)
  await pool.query(`select graphile_worker.force_unlock_workers(array(${lockHolders}))`)
  const keyed = jobs.flatMap(({ name, key }) => (key ? [name] : []))
  await pool.query(`select graphile_worker.complete_jobs(array(${replacedJobs}))`, [keyed])
  await removeQueues(pool)
}
