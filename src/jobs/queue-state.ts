import { Gauge } from 'prom-client'
import type { Db } from '../db/db.ts'
import { double, integer, nullable, type RowOf, text } from '../db/row.ts'
import { sql } from '../db/sql.ts'
import { within } from '../kernel/late.ts'
import { sharedResult } from '../kernel/shared-result.ts'

/** State of the job queue. */
export const queueStateRow = {
  /** Waiting time of the oldest job that is due; 0 if none waits. */
  oldest_due_seconds: double,
  /** When a runner last took a job, or had all slots of quick jobs in use, accurate to seconds; null before the first. */
  last_taken_at: nullable(text),
  /** Time since a job was last taken; null before the first. */
  idle_seconds: nullable(double),
  running: integer,
  /** Jobs that are due and wait. */
  due: integer,
  /** Jobs that are to run later, for the first time. */
  scheduled: integer,
  /** Jobs that have failed and will be tried again. */
  retrying: integer,
  /** Jobs that have failed at every attempt. */
  failed: integer,
}
export type QueueState = RowOf<typeof queueStateRow>

/**
 * Jobs behind a running job of the same queue are not due. Reads the jobs once, by queue: a long backlog is when this is asked most.
 */
const queueStateSql = sql`
  with queues as (
    select min(run_at) filter (
        where locked_at is null and attempts < max_attempts and run_at <= now()
      ) as oldest_due,
      queue_name is not null
      and count(locked_at) > 0 as is_running, count(*) filter (where locked_at is not null) as running,
      count(*) filter (where locked_at is null and attempts < max_attempts and run_at <= now()) as due,
      count(*) filter (where locked_at is null and attempts = 0 and run_at > now()) as scheduled,
      count(*) filter (
        where locked_at is null and attempts between 1 and max_attempts - 1 and run_at > now()
      ) as retrying,
      count(*) filter (where locked_at is null and attempts >= max_attempts) as failed
    from graphile_worker.jobs
    group by queue_name
  )
  select coalesce(
      extract(epoch from now() - min(oldest_due) filter (where not is_running)), 0
    )::float8 as oldest_due_seconds,
    (select to_char(taken_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from job_runner) as last_taken_at,
    (select extract(epoch from now() - taken_at) from job_runner)::float8 as idle_seconds,
    coalesce(sum(running), 0)::integer as running, coalesce(sum(due), 0)::integer as due,
    coalesce(sum(scheduled), 0)::integer as scheduled, coalesce(sum(retrying), 0)::integer as retrying,
    coalesce(sum(failed), 0)::integer as failed
  from queues
`

const shared = new WeakMap<Db, () => Promise<QueueState>>()

/** One query. Callers that ask while it runs share it. */
export function queueState(db: Db): Promise<QueueState> {
  const known = shared.get(db)
  if (known) return known()
  const read = sharedResult(async () => (await db.row(queueStateRow, queueStateSql))!)
  shared.set(db, read)
  return read()
}

/** Saves the current time as the last one at which a job was taken. */
export const saveTaken = (db: Db): Promise<number> =>
  db.run(
    sql`
      insert into job_runner (taken_at) values (now()) on conflict (is_only) do update set taken_at = excluded.taken_at
    `,
  )

/** Longer than the jobs process needs to detect the fault and restart. */
const lateSeconds = 5 * 60
const answerWithinMs = 3000

export type JobsCheck = {
  status: 'ok' | 'failed'
  message?: string
  oldest_due_seconds?: number
  last_taken_at?: string | null
}

/** Readiness check: fails if jobs are due and none was taken for five minutes although slots of quick jobs were free. Never rejects. */
export async function checkJobs(db: Db): Promise<JobsCheck> {
  const late = () => 'late' as const
  const found = await within(answerWithinMs, queueState(db).catch(late), late)
  if (found === 'late') return { status: 'failed', message: 'no answer in time' }
  const { oldest_due_seconds, last_taken_at, idle_seconds } = found
  const isStuck = oldest_due_seconds > lateSeconds && (idle_seconds ?? 0) > lateSeconds
  const figures = { oldest_due_seconds: Math.round(oldest_due_seconds), last_taken_at }
  return isStuck ? { status: 'failed', message: 'no jobs are taken', ...figures } : { status: 'ok', ...figures }
}

let observed: Db | undefined

/** Sets the database that `/-/metrics` reports about. */
export function observeJobs(db: Db): void {
  observed = db
}

/** Gauges that are collected together share one statement. */
const measure = async (): Promise<QueueState | undefined> => {
  const nothing = () => undefined
  return observed && (await within(answerWithinMs / 2, queueState(observed).catch(nothing), nothing))
}

// All workers query the same database, so the maximum is correct.
new Gauge({
  name: 'stithy_jobs_oldest_due_seconds',
  help: 'Waiting time of the oldest due job',
  aggregator: 'max',
  async collect() {
    const found = await measure()
    if (found) this.set(found.oldest_due_seconds)
    else this.reset()
  },
})
new Gauge({
  name: 'stithy_jobs_last_taken_timestamp_seconds',
  help: 'When a job was last taken; 0 before the first',
  aggregator: 'max',
  async collect() {
    const found = await measure()
    if (found) this.set(found.last_taken_at === null ? 0 : Date.parse(found.last_taken_at) / 1000)
    else this.reset()
  },
})
new Gauge({
  name: 'stithy_jobs',
  help: 'Jobs in the queue, by state',
  labelNames: ['state'],
  aggregator: 'max',
  async collect() {
    const found = await measure()
    if (!found) return this.reset()
    for (const state of ['due', 'scheduled', 'running', 'retrying', 'failed'] as const)
      this.labels(state).set(found[state])
  },
})
