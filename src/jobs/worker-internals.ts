import type pg from 'pg'
import { type Sql, sql } from '../db/sql.ts'

/*
 * The only file of the product that uses the private tables of graphile-worker, as they are in 0.18.0, the pinned version.
 * Its public view `graphile_worker.jobs` has no payload and cannot be locked; worker-internals.test.ts fails when another
 * version changes the columns.
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
