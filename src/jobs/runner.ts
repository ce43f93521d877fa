import { Logger, parseCronItems, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import type { Logger as Pino } from 'pino'
import { Value } from 'typebox/value'
import type { Ctx } from '../api/ctx.ts'
import { connectionOptions } from '../db/connection.ts'
import { answered } from '../db/lost.ts'
import { enqueue, type Job } from './job.ts'
import { Rests } from './rests.ts'

export type JobRunnerOptions = {
  databaseUrl: string
  jobs: readonly Job<any>[]
  /** A context for each job, of nobody. */
  open: () => Promise<Ctx>
  log: Pino
  concurrency?: number
  rests?: Rests
}

/** Runs queued jobs until it is stopped; those under way are then finished or handed back. */
export async function startJobs({
  databaseUrl,
  jobs,
  open,
  log,
  concurrency = 4,
  rests = new Rests(),
}: JobRunnerOptions): Promise<Runner> {
  const pool = new pg.Pool({ ...connectionOptions(databaseUrl, 'jobs'), max: concurrency + 2, statement_timeout: 0 })
  const broke = (error: Error) => log.warn({ err: error }, 'a connection of the job runner broke')
  pool.on('error', broke)
  pool.on('connect', (client) => client.on('error', broke))
  await answered(releaseJobs(pool))
  const runner = await run({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    pollInterval: 1000,
    logger: new Logger(
      () => (level, message) => log[level === 'warning' ? 'warn' : level === 'error' ? 'error' : 'debug'](message),
    ),
    taskList: Object.fromEntries(
      jobs.map((job) => [
        job.name,
        async (payload: unknown) => {
          if (!Value.Check(job.input, payload))
            throw new Error(`${job.name}: not its input: ${JSON.stringify(payload)}`)
          const ctx = await open()
          const key = job.rests ? job.key?.(payload) : undefined
          const restMs = key === undefined ? 0 : rests.left(key)
          if (restMs > 0) return void (await ctx.transaction((tx) => enqueue(tx, job, payload, restMs)))
          const began = performance.now()
          await job.run(payload, ctx)
          const tookMs = performance.now() - began
          if (key !== undefined) rests.begin(key, tookMs)
          log.info({ job: job.name, input: payload, duration_ms: Math.round(tookMs) }, 'job done')
        },
      ]),
    ),
    parsedCronItems: parseCronItems(
      jobs.flatMap((job) =>
        job.every
          ? [
              {
                task: job.name,
                match: job.every.cron,
                payload: job.every.input as Record<string, unknown>,
                options: { maxAttempts: job.attempts },
              },
            ]
          : [],
      ),
    ),
  })
  runner.promise.finally(() => pool.end()).catch(() => {})
  return runner
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
  await pool.query(`select graphile_worker.force_unlock_workers(array(
    select locked_by from graphile_worker._private_jobs where locked_by is not null
    union select locked_by from graphile_worker._private_job_queues where locked_by is not null))`)
}
