import pg from 'pg'
import { vi } from 'vitest'
import type { RunnerStatement } from '../src/jobs/worker-internals.ts'
import type { World } from './world.ts'

/** A row of the job queue, as far as tests look at it. */
export type JobRow = {
  id: string
  key: string | null
  payload: any
  revision: number
  attempts: number
  max_attempts: number
}

const jobs = 'graphile_worker._private_jobs'

/** All rows of the job queue, the oldest first, with every column. `world.jobs` returns those with a key. */
export const jobRows = (world: World): Promise<JobRow[]> => world.rows(`select * from ${jobs} order by id`)

/** Ids of the jobs with this key that a runner could take now. */
export async function takeableJobs(world: World, key: string): Promise<string[]> {
  const rows = await world.rows(`select id from ${jobs} where key = $1 for update skip locked`, [key])
  return rows.map(({ id }) => id)
}

/** The job with this key: for how many seconds it was delayed, and whether a runner holds it. */
export async function delayOf(world: World, key: string): Promise<{ seconds: number; isHeld: boolean }> {
  const [row] = await world.rows(
    `select extract(epoch from run_at - created_at)::float8 as seconds, locked_at is not null as held
      from ${jobs} where key = $1`,
    [key],
  )
  return { seconds: Math.round(row.seconds), isHeld: row.held }
}

/** Locks a job and its queue, as a runner does that takes it. */
export async function lockJob(world: World, { id }: JobRow, by = 'another'): Promise<void> {
  await world.rows(`update ${jobs} set locked_at = now(), locked_by = $2, attempts = attempts + 1 where id = $1`, [
    id,
    by,
  ])
  await world.rows(
    `update graphile_worker._private_job_queues set locked_at = now(), locked_by = $2
      where id = (select job_queue_id from ${jobs} where id = $1)`,
    [id, by],
  )
}

/** The job was tried so often. */
export const setAttempts = (world: World, { id }: JobRow, attempts: number): Promise<unknown> =>
  world.rows(`update ${jobs} set attempts = $2 where id = $1`, [id, attempts])

/** Takes all further attempts from waiting jobs without a key, as if they had failed. */
export const failJobsWithoutKey = (world: World): Promise<unknown> =>
  world.rows(`update ${jobs} set attempts = max_attempts where key is null and locked_at is null`)

/** Queues every waiting job, and a timetable, as if the clock had been nine years ahead. */
export async function queueInFuture(world: World, timetable: string): Promise<void> {
  const ahead = `interval '9 years'`
  await world.rows(`update ${jobs} set created_at = created_at + ${ahead}, run_at = run_at + ${ahead}`)
  await world.rows(
    `insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
      values ($1, now(), now() + ${ahead})`,
    [timetable],
  )
}

/** Names of the timetables whose last run is in the future. */
export async function futureTimetables(world: World): Promise<string[]> {
  const rows = await world.rows(
    'select identifier from graphile_worker._private_known_crontabs where last_execution > now()',
  )
  return rows.map(({ identifier }) => identifier)
}

/** Keys of all jobs that are queued, or of those with these keys. */
export const jobKeys = (world: World, keys?: readonly string[]) =>
  world.rows('select key from graphile_worker.jobs where $1::text[] is null or key = any($1) order by key', [
    keys ?? null,
  ])

/** Keys in which `%` stands for any text. */
export const jobKeysLike = (world: World, key: string) =>
  world.rows('select key from graphile_worker.jobs where key like $1', [key])

export const jobAttempts = (world: World, keys: readonly string[]) =>
  world.rows('select key, attempts from graphile_worker.jobs where key = any($1)', [keys])

/** Whether the job is to run later, as `waits`. */
export const jobWaits = (world: World, key: string) =>
  world.rows('select run_at > now() as waits from graphile_worker.jobs where key = $1', [key])

/** Queues a job without a key, which may be one that no process knows. */
export const queueJob = (world: World, name: string, queue: string | null = null, minutesAgo = 0) =>
  world.rows(
    `select graphile_worker.add_job($1, '{}', queue_name := $2, run_at := now() - make_interval(mins => $3))`,
    [name, queue, minutesAgo],
  )

/** Names of all queues, also of those without jobs. */
export async function queueNames(world: World): Promise<string[]> {
  const rows = await world.rows('select queue_name from graphile_worker._private_job_queues order by 1')
  return rows.map(({ queue_name }) => queue_name)
}

/** No further attempts are made of these jobs. */
export const failJobs = (world: World, keys: readonly string[]) =>
  world.rows(
    'select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs where key = any($1)))',
    [keys],
  )

/** A runner took a job this long ago. */
export const takenAgo = (world: World, minutes: number) =>
  world.rows(
    `insert into job_runner (taken_at) values (now() - make_interval(mins => $1))
      on conflict (is_only) do update set taken_at = excluded.taken_at`,
    [minutes],
  )

/** The statements that clients of PostgreSQL send meanwhile, of the runner and all others. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<RunnerStatement[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    return query.mock.calls.map(([statement]) => statement as unknown as RunnerStatement)
  } finally {
    query.mockRestore()
  }
}
