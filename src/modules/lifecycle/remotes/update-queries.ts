import { raw, type Sql, sql } from '../../../db/sql.ts'

/** What statements on `pull_mirrors` and `push_mirrors` say about updates. */

/** Assignment: an update waits, unless one runs. */
export const updateScheduled = raw(
  `update_status = case when update_status = 'started' then update_status else 'scheduled' end`,
)

/** Assignment: the state of the last update, when none waits or runs. */
export const updateAtRest = raw(
  `update_status = case when last_update_at is null then 'none' when last_error is null then 'finished' else 'failed' end`,
)

export type UpdateResult = {
  readonly error: string | null
  readonly failures: number
  /** Until the next update; null if none is due. */
  readonly nextInSeconds: number | null
}

/** Assignments: the end of an update. */
export const updateEnded = ({ error, failures, nextInSeconds }: UpdateResult): Sql =>
  sql`
    update_status = ${error === null ? 'finished' : 'failed'}, last_error = ${error}, failures = ${failures},
    last_update_at = now(),
    last_successful_update_at = case when ${error === null} then now() else last_successful_update_at end,
    next_at = now() + make_interval(secs => ${nextInSeconds}::double precision)
  `
