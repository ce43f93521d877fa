import { setTimeout as delay } from 'node:timers/promises'
import { Logger, parseCronItems, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import type { Logger as Pino } from 'pino'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Ctx } from '../api/ctx.ts'
import { connectionOptions } from '../db/connection.ts'
import { answered, DatabaseLost } from '../db/lost.ts'
import { clockJump } from '../kernel/clock.ts'
import { Failure } from '../kernel/failure.ts'
import { enqueue, type Job } from './job.ts'
import { Rests } from './rests.ts'
import { jobsAtOnce, saveTaken } from './standing.ts'

/** All in ms. */
export type RunnerTimes = {
  /** Until the first job must be taken. */
  readonly start: number
  /** For a connection. */
  readonly connect: number
  /** How often a job is queued only to see that jobs are taken. */
  readonly probe: number
  /** For how long none may be taken while there is room and at least one waits. */
  readonly untaken: number
}

const usualTimes: RunnerTimes = { start: 30_000, connect: 10_000, probe: 15_000, untaken: 60_000 }

export type JobRunnerOptions = {
  databaseUrl: string
  jobs: readonly Job<any>[]
  /** Creates the context of a job, without a caller. */
  open: () => Promise<Ctx>
  log: Pino
  concurrency?: number
  rests?: Rests
  /** Jobs are no longer taken, and this process cannot change that. Called at most once. */
  onBroken: (error: Error) => void
  times?: RunnerTimes
}

export type JobRunner = {
  /** Jobs under way are finished or handed back, and connections closed. */
  stop(): Promise<void>
}

/** Does nothing: that it is taken shows that jobs are. */
const probe: Job = {
  name: 'probe_of_the_runner',
  input: Type.Object({}),
  key: () => 'probe_of_the_runner',
  attempts: 25,
  run: async () => {},
}

/**
 * Runs queued jobs until it is stopped. Resolves when a job was taken: a runner whose first connections fail may remember that
 * for ever, and take none. Rejects with `DatabaseLost` when none was taken in time; that runner takes no more, and another may
 * be started in this process.
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
    rests = new Rests(),
  } = options
  const pool = new RunnerPool({
    ...connectionOptions(databaseUrl, 'jobs'),
    max: concurrency + 2,
    statement_timeout: 0,
    connectionTimeoutMillis: times.connect,
  })
  const broke = (error: Error) => log.warn({ err: error }, 'a connection of the job runner broke')
  pool.on('error', broke)
  pool.on('connect', (client) => client.on('error', broke))
  const watch = new Watch({ concurrency, times, open, log })
  const start = async (): Promise<Runner> => {
    await answered(releaseJobs(pool))
    await watch.queueProbe()
    return answered(
      run({
        pgPool: pool,
        concurrency,
        noHandleSignals: true,
        pollInterval: 1000,
        logger: new Logger(
          () => (level, message) => log[level === 'warning' ? 'warn' : level === 'error' ? 'error' : 'debug'](message),
        ),
        taskList: {
          [probe.name]: () => watch.taking(async () => {}),
          ...Object.fromEntries(
            jobs.map((job) => [
              job.name,
              (payload: unknown) => watch.taking(() => runJob(job, payload, { open, log, rests })),
            ]),
          ),
        },
        parsedCronItems: cronItems(jobs),
      }),
    )
  }
  const starting = start()
  try {
    const runner = await within(times.start, starting)
    // Its end is for `watch` and `stop`; without this, one before that would be an unhandled rejection.
    runner.promise.catch(() => {})
    await within(times.start, Promise.race([watch.firstTaken, runner.promise.then(() => Promise.reject(ended()))]))
    watch.begin(runner, onBroken)
    const closed = runner.promise.finally(() => pool.end()).catch(() => {})
    return {
      async stop() {
        watch.end()
        await runner.stop()
        await closed
      },
    }
  } catch (error) {
    watch.end()
    const stopped = starting.then((runner) => runner.stop()).catch(() => {})
    await Promise.race([stopped, delay(giveUpMs, undefined, { ref: false })])
    // Without a pool it takes no jobs, whatever becomes of it.
    pool.end().catch(() => {})
    throw error
  }
}

/**
 * Connections of the runner. graphile-worker marks a finished job without waiting for that, so that an error which it does not
 * take for a passing one would be an unhandled rejection, and the job would stay taken.
 */
class RunnerPool extends pg.Pool {
  #isOver = false

  // With a callback it is `query` of the pool that calls, without one it is the runner.
  override connect(callback?: (...args: any[]) => void): any {
    if (callback) return super.connect(callback)
    if (this.#isOver) return new Promise(() => {})
    return super.connect().catch((error: Error) => {
      if (this.#isOver) return new Promise(() => {})
      // The runner tries again after errors with this code.
      if (error.message === connectTimeout) Object.assign(error, { code: 'ETIMEDOUT' })
      throw error
    })
  }

  /** What a runner still asks for after the end, because it has stopped or failed to start, is never answered. */
  override end(callback?: () => void): any {
    this.#isOver = true
    return callback ? super.end(callback) : super.end()
  }
}

/** What a pool says when no connection came within `connectionTimeoutMillis`. */
const connectTimeout = 'timeout exceeded when trying to connect'

/** How long a runner that failed to start may take to stop. */
const giveUpMs = 2000

const ended = () => new Failure('unavailable', 'The job runner has ended by itself')

/** What it resolves with; `DatabaseLost` when that takes longer. */
function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => reject(new DatabaseLost(new Failure('unavailable', `No job was taken within ${ms / 1000} s`)))
  const timer = setTimeout(late, ms)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

/** Slow corrections of the clock are no jump. */
const clockToleranceMs = 2 * 60_000

/** How often it is written down that jobs are taken, at most. */
const saveEveryMs = 5000

/** Sees whether jobs are taken. */
class Watch {
  readonly #parts: Pick<JobRunnerOptions, 'open' | 'log'> & { concurrency: number; times: RunnerTimes }
  readonly #first = Promise.withResolvers<void>()
  #running = 0
  /** Since when a job has been waiting while there was room; undefined when none is known to. */
  #waitingSince: number | undefined
  #savedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #jump = clockJump()

  constructor(parts: Pick<JobRunnerOptions, 'open' | 'log'> & { concurrency: number; times: RunnerTimes }) {
    this.#parts = parts
  }

  /** Resolves when the first job was taken. */
  get firstTaken(): Promise<void> {
    return this.#first.promise
  }

  async taking<T>(work: () => Promise<T>): Promise<T> {
    this.#running++
    this.#waitingSince = undefined
    this.#first.resolve()
    this.#save()
    try {
      return await work()
    } finally {
      this.#running--
      // While all were busy, none could be taken.
      this.#waitingSince = undefined
    }
  }

  async queueProbe(): Promise<void> {
    const ctx = await this.#parts.open()
    await ctx.transaction((tx) => enqueue(tx, probe, {}))
  }

  begin(runner: Runner, onBroken: (error: Error) => void): void {
    const broken = (error: Error) => {
      if (this.#isOver) return
      this.end()
      onBroken(error)
    }
    runner.promise.then(() => broken(ended()), broken)
    const { times } = this.#parts
    this.#timer = setInterval(() => void this.#look(broken), times.probe).unref()
  }

  end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
  }

  async #look(broken: (error: Error) => void): Promise<void> {
    const { concurrency, times } = this.#parts
    // Its timetable is by the clock of its start: set back, it would run nothing until that time comes again.
    const jump = clockJump()
    const jumped = jump - this.#jump
    this.#jump = jump
    if (Math.abs(jumped) > clockToleranceMs)
      return broken(new Failure('unavailable', 'The clock was set: jobs start anew by the new time'))
    try {
      const now = performance.now()
      await this.queueProbe()
      if (this.#running >= concurrency) this.#waitingSince = undefined
      else this.#waitingSince ??= now
    } catch {
      // Without a database nothing can be taken: that is no fault of the runner.
      this.#waitingSince = undefined
    }
    if (this.#waitingSince !== undefined && performance.now() - this.#waitingSince > times.untaken)
      broken(new Failure('unavailable', `No job was taken for ${times.untaken / 1000} s, though some wait`))
  }

  #save(): void {
    const now = performance.now()
    if (now - this.#savedAt < saveEveryMs) return
    this.#savedAt = now
    this.#parts
      .open()
      .then(({ db }) => saveTaken(db))
      .catch((err) => this.#parts.log.warn({ err }, 'cannot write down that jobs are taken'))
  }
}

type RunParts = Pick<JobRunnerOptions, 'open' | 'log'> & { rests: Rests }

async function runJob(job: Job<any>, payload: unknown, { open, log, rests }: RunParts): Promise<void> {
  if (!Value.Check(job.input, payload)) throw new Error(`${job.name}: not its input: ${JSON.stringify(payload)}`)
  const ctx = await open()
  const key = job.rests ? job.key?.(payload) : undefined
  const restMs = key === undefined ? 0 : rests.left(key)
  if (restMs > 0) return void (await ctx.transaction((tx) => enqueue(tx, job, payload, restMs)))
  const began = performance.now()
  await job.run(payload, ctx)
  const tookMs = performance.now() - began
  if (key !== undefined) rests.begin(key, tookMs)
  log.info({ job: job.name, input: payload, duration_ms: Math.round(tookMs) }, 'job done')
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
                // One waits at a time, also when the clock was set forward and many are due at once.
                ...(job.key && { jobKey: job.key(job.every.input), jobKeyMode: 'preserve_run_at' as const }),
              },
            },
          ]
        : [],
    ),
  )

/**
 * Jobs that were queued, and timetables that were followed, before the clock was set back would wait for that time to come again. A
 * job keeps its delay.
 */
async function forgetFuture(pool: pg.Pool): Promise<void> {
  await pool.query(`update graphile_worker._private_known_crontabs set last_execution = now()
    where last_execution > now() + interval '2 minutes'`)
  await pool.query(`update graphile_worker._private_jobs set run_at = now() + (run_at - created_at), created_at = now()
    where created_at > now() + interval '2 minutes'`)
}

/**
 * Gives back the jobs of runners that were killed: there is one runner at a time, so whatever is held now is held by none.
 * Left alone, they and all of their queue would wait for four hours.
 */
async function releaseJobs(pool: pg.Pool): Promise<void> {
  // The first start makes the tables.
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('graphile_worker._private_jobs') is not null as there`,
  )
  if (!rows[0]!.there) return
  await forgetFuture(pool)
  await pool.query(`select graphile_worker.force_unlock_workers(array(
    select locked_by from graphile_worker._private_jobs where locked_by is not null
    union select locked_by from graphile_worker._private_job_queues where locked_by is not null))`)
}
