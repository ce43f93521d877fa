import type { Static, TObject } from 'typebox'
import type { Ctx } from '../api/ctx.ts'
import type { Tx } from '../db/db.ts'
import { raw, type Sql, sql } from '../db/sql.ts'

/** Work that happens later, once its transaction has committed, in the jobs process. */
export type Job<I extends TObject = TObject> = {
  readonly name: string
  readonly input: I
  /** Two pending jobs with the same key become one. */
  readonly key?: (input: Static<I>) => string
  /** Whether those with one key, together, may take no more than a tenth of the time: what comes too soon waits (`Rests`). */
  readonly rests?: boolean
  /** Jobs of the same queue run one after the other. */
  readonly queue?: (input: Static<I>) => string
  /** Attempts in all, with exponential back-off between them. */
  readonly attempts: number
  /** Runs by the clock, too, with this input: `minute hour day month weekday`, UTC. */
  readonly every?: { readonly cron: string; readonly input: Static<I> }
  /** May run more than once with the same input: write it so that this does no harm. */
  run(input: Static<I>, ctx: Ctx): Promise<void>
}

/** A job as whoever queues it knows it. An area that may not import what runs it declares this, and leaves `run` to another. */
export type JobDeclaration<I extends TObject = TObject> = Omit<Job<I>, 'run' | 'every'>

export const job = <I extends TObject>(j: Job<I>): Job<I> => j

/**
 * Queues a job as part of the transaction: if that rolls back, the job never existed. One that waits under the same key
 * already keeps its time, so that a steady stream of writes does not put it off for ever.
 */
export const enqueue = <I extends TObject>(
  tx: Tx,
  j: JobDeclaration<I>,
  input: Static<I>,
  delayMs = 0,
): Promise<number> =>
  tx.run(
    sql`select ${addJob(j, delayMs, sql`${JSON.stringify(input)}::json`, sql`${j.queue?.(input) ?? null}`, sql`${j.key?.(input) ?? null}`)}`,
  )

/** The same where a condition holds, in one statement. */
export const enqueueWhere = <I extends TObject>(
  tx: Tx,
  j: JobDeclaration<I>,
  input: Static<I>,
  condition: Sql,
): Promise<number> =>
  tx.run(
    sql`select ${addJob(j, 0, sql`${JSON.stringify(input)}::json`, sql`${j.queue?.(input) ?? null}`, sql`${j.key?.(input) ?? null}`)} where ${condition}`,
  )

/** The same for several inputs, in one statement. */
export const enqueueEach = <I extends TObject>(
  tx: Tx,
  j: JobDeclaration<I>,
  inputs: readonly Static<I>[],
): Promise<number> => {
  const each = inputs.map((input) => ({ input, queue: j.queue?.(input) ?? null, key: j.key?.(input) ?? null }))
  return tx.run(sql`select ${addJob(j, 0, raw('input'), raw('queue'), raw('key'))}
    from json_to_recordset(${JSON.stringify(each)}::json) as each (input json, queue text, key text)`)
}

const addJob = ({ name, attempts }: JobDeclaration, delayMs: number, input: Sql, queue: Sql, key: Sql): Sql =>
  sql`graphile_worker.add_job(${name}, payload := ${input}, queue_name := ${queue},
    run_at := now() + make_interval(secs => ${delayMs / 1000}::double precision),
    job_key := ${key}, job_key_mode := 'preserve_run_at', max_attempts := ${attempts})`
