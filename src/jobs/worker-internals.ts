import type pg from 'pg'
import { type Sql, sql } from '../db/sql.ts'

/*
 * The only file of the product that uses the private tables of graphile-worker, and the names of its statements, as they are in 0.18.0, the
 * pinned version. Its public view `graphile_worker.jobs` has no payload and cannot be locked; worker-internals.test.ts fails when another
 * version changes the columns, or the names.
 */

/**
 * Selects the same job, waiting, and locks it for share, so that it cannot start before this transaction ends. Adding it again
 * would change nothing, and would wake the runner needlessly. No mode of `add_job` does the same: `unsafe_dedupe` also
 * leaves a job alone that runs already.
 */
export const waitingJob = (key: string, payload: string): Sql => sql`
  select
  from graphile_worker._private_jobs
  where key = ${key} and payload::text = ${payload} and locked_at is null and attempts = 0
  for share
`

/**
 * Moves jobs and timetables to the present that a clock which was later set back put into the future: they would wait for
 * that time to come again. A job keeps its delay. `reschedule_jobs` cannot do that: it leaves `created_at`.
 */
export async function moveToPresent(pool: pg.Pool): Promise<void> {
  await pool.query(`update graphile_worker._private_known_crontabs set last_execution = now()
    where last_execution > now() + interval '2 minutes'`)
  await pool.query(`update graphile_worker._private_jobs set run_at = now() + (run_at - created_at), created_at = now()
    where created_at > now() + interval '2 minutes'`)
}

/** Names of the workers that hold jobs or queues. A worker that was killed between the two may hold a queue alone. */
export const lockHolders = `
  select locked_by from graphile_worker.jobs where locked_by is not null
  union select locked_by from graphile_worker._private_job_queues where locked_by is not null`

/**
 * Jobs that were added again while they ran: graphile-worker takes their key, and their further attempts, because the added job does
 * their work. One that was killed then is never taken again, and would count as failed for ever. `$1`: the names of jobs that have keys;
 * others have failed.
 */
export const replacedJobs = `
  select id
  from graphile_worker.jobs
  where task_identifier = any($1::text[]) and key is null and locked_at is null and attempts >= max_attempts`

/**
 * Removes queues without jobs, of which earlier releases had one for each project. A transaction that adds a job holds a lock of this table
 * until it ends, so none can be adding a job to a queue that is removed. Does nothing if they take too long.
 */
export async function removeQueues(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  let failed = true
  try {
    await client.query(`begin; set local lock_timeout = '2s'`)
    await client.query('lock table graphile_worker._private_job_queues in share row exclusive mode')
    await client.query(`delete from graphile_worker._private_job_queues q
      where locked_at is null and not exists (select from graphile_worker._private_jobs where job_queue_id = q.id)`)
    await client.query('commit')
    failed = false
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error
  } finally {
    client.release(failed)
  }
}

/** Source: PostgreSQL, error codes. */
const lockNotAvailable = '55P03'

/** A statement as graphile-worker sends it: some by text alone. */
export type RunnerStatement = string | { readonly name?: string; readonly values?: readonly unknown[] }

const nameOf = (statement: RunnerStatement): string | undefined =>
  typeof statement === 'string' ? undefined : statement.name

/** What a statement that looks for any due job seeks: the ids of the kinds of jobs. Undefined for others, also if it leaves out shares that are used up. */
export const soughtBy = (statement: RunnerStatement): string | undefined =>
  nameOf(statement) === 'get_job/graphile_worker'
    ? String((statement as { values: readonly unknown[] }).values[1])
    : undefined

/** Names of the statement that looks for jobs which are not of some shares, and of the one that removes a job that is in no queue. */
const namesWithoutEffect: ReadonlySet<string | undefined> = new Set([
  'get_jobF/graphile_worker',
  'complete_job/graphile_worker',
])

/** Whether no other job can be due because of a statement. */
export const makesNoneDue = (statement: RunnerStatement): boolean => namesWithoutEffect.has(nameOf(statement))
