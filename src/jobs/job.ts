import type { Static, TObject } from 'typebox'
import type { Ctx } from '../api/ctx.ts'
import type { Tx } from '../db/db.ts'
import { json } from '../db/row.ts'
import { join, raw, type Sql, sql } from '../db/sql.ts'
import { shareOf } from './job-shares.ts'
import type { JobLimits } from './limits.ts'
import { waitingJob } from './worker-internals.ts'

/** Work that runs in the jobs process after the transaction that enqueued it has committed. */
export type Job<I extends TObject = TObject> = {
  readonly name: string
  readonly input: I
  /** Deduplicates: pending jobs with the same key become one. */
  readonly key?: (input: Static<I>) => string
  /** Limits all jobs with the same key together to a tenth of the time: earlier ones are delayed (`Throttle`). */
  readonly throttled?: boolean
  /** Jobs of the same queue run one at a time. There are few queues: the runner locks all of them when it looks for a job. */
  readonly queue?: (input: Static<I>) => string
  /**
   * As a queue, with a name for each project or the like. A job that has to wait for another is tried again after seconds, in any order.
   * Needs a key.
   */
  readonly alone?: (input: Static<I>) => string
  /**
   * Limits that the job counts against while it runs; while one is reached, it waits in the queue. `share` names who caused it, or the jobs
   * that the service itself enqueues (`job-shares.ts`). Needs a key.
   */
  readonly limits?: (input: Static<I>, ctx: Ctx, share: string | undefined) => Promise<JobLimits | undefined>
  /**
   * Whether it may take minutes, because it waits for other servers or handles a whole repository. Such jobs have slots of their own
   * (`slowJobsAtOnce`), so that no other job waits for them. Needs limits or a queue.
   */
  readonly slow?: true
  /** Whether it contacts other servers: such jobs wait in a quiet copy of an installation (`kernel/quiet.ts`). */
  readonly outgoing?: true
  /** Maximum attempts, with exponential back-off between them. */
  readonly attempts: number
  /** Schedule and its input: `minute hour day month weekday`, UTC. */
  readonly every?: { readonly cron: string; readonly input: Static<I> }
  /** Must be idempotent: it may run more than once with the same input. */
  run(input: Static<I>, ctx: Ctx): Promise<void>
}

export const job = <I extends TObject>(j: Job<I>): Job<I> => j

/**
 * Enqueues a job in the transaction; a rollback discards it. A waiting job with the same key keeps its run time, so that a
 * steady stream of writes cannot postpone it forever. Returns the number of rows.
 */
export const enqueue = <I extends TObject>(tx: Tx, j: Job<I>, input: Static<I>, delayMs = 0): Promise<number> => {
  const [payload, key] = [JSON.stringify(input), j.key?.(input) ?? null]
  const added = addJob(tx, j, delayMs, sql`${payload}::json`, sql`${j.queue?.(input) ?? null}`, sql`${key}`)
  return tx.run(
    key !== null && delayMs > 0
      ? sql`with waiting as (${waitingJob(key, payload)}) select ${added} where not exists (select from waiting)`
      : sql`select ${added}`,
  )
}

/** A statement that enqueues a job if `condition` is true. */
export const enqueuedWhere = <I extends TObject>(tx: Tx, j: Job<I>, input: Static<I>, condition: Sql): Sql =>
  sql`
    select
      ${addJob(tx, j, 0, sql`${JSON.stringify(input)}::json`, sql`${j.queue?.(input) ?? null}`, sql`${j.key?.(input) ?? null}`)}
    where ${condition}
  `

/** Enqueues a job if `condition` is true, in one statement. */
export const enqueueWhere = <I extends TObject>(tx: Tx, j: Job<I>, input: Static<I>, condition: Sql): Promise<number> =>
  tx.run(enqueuedWhere(tx, j, input, condition))

/** Runs several of `enqueuedWhere` as one statement. */
export const enqueueAllWhere = (tx: Tx, each: readonly Sql[]): Promise<number> => tx.run(join(each, ' union all '))

/** Enqueues one job per input, in one statement. A waiting job with the same key keeps its run time. */
export const enqueueEach = <I extends TObject>(
  tx: Tx,
  j: Job<I>,
  inputs: readonly Static<I>[],
  delayMs = 0,
): Promise<number> => {
  const each = inputs.map((input) => ({ input, queue: j.queue?.(input) ?? null, key: j.key?.(input) ?? null }))
  return tx.run(sql`
    select ${addJob(tx, j, delayMs, raw('input'), raw('queue'), raw('key'))}
    from json_to_recordset(${JSON.stringify(each)}::json) as each (input json, queue text, key text)
  `)
}

/** Removes a waiting job with a key; one that is running completes. */
export const dequeue = <I extends TObject>(tx: Tx, j: Job<I>, input: Static<I>): Promise<number> =>
  tx.run(sql`select graphile_worker.remove_job(${j.key!(input)})`)

/** Tries again jobs of a kind that have failed at every attempt, or only the one with the key of `input`. */
export const retryFailed = <I extends TObject>(tx: Tx, j: Job<I>, input?: Static<I>): Promise<number> =>
  tx.run(sql`
    select graphile_worker.reschedule_jobs(
      array(
        select id
        from graphile_worker.jobs
        where task_identifier = ${j.name}
          and locked_at is null
          and attempts >= max_attempts
          and (${input === undefined} or key = ${input === undefined ? null : j.key!(input)})
      ),
      run_at := now(), attempts := 0
    )
  `)

/** Removes jobs of a kind that have failed at every attempt, and returns their inputs. */
export const takeFailed = async <I extends TObject>(tx: Tx, j: Job<I>): Promise<Static<I>[]> => {
  const rows = await tx.rows(
    { payload: json<Static<I>>() },
    sql`
      select payload
      from graphile_worker.complete_jobs(
        array(
          select id
          from graphile_worker.jobs
          where task_identifier = ${j.name} and key is not null and locked_at is null and attempts >= max_attempts
        )
      )
    `,
  )
  return rows.map(({ payload }) => payload)
}

const addJob = (
  tx: Tx,
  { name, attempts }: Pick<Job, 'name' | 'attempts'>,
  delayMs: number,
  input: Sql,
  queue: Sql,
  key: Sql,
): Sql =>
  sql`
    graphile_worker.add_job(
      ${name}, payload := ${input}, queue_name := ${queue},
      run_at := now() + make_interval(secs => ${delayMs / 1000}::double precision), job_key := ${key},
      job_key_mode := 'preserve_run_at', max_attempts := ${attempts}, flags := array[${shareOf(tx, name)}]::text[]
    )
  `
