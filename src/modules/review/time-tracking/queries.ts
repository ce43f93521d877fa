import type { Db, Tx } from '../../../db/db.ts'
import { type Sql, sql } from '../../../db/sql.ts'

export type TimeRow = {
  /** Seconds; 0 without an estimate. */
  readonly time_estimate: number
  /** Seconds. */
  readonly total_time_spent: number
}

/** Seconds that were spent on a merge request. */
export const timeSpentSql = (mergeRequestId: Sql): Sql =>
  sql`(select coalesce(sum(s.seconds), 0)::integer from time_logs s where s.merge_request_id = ${mergeRequestId})`

const times = (id: number): Sql =>
  sql`select m.time_estimate, ${timeSpentSql(sql`m.id`)} as total_time_spent from merge_requests m where m.id = ${id}`

export const findTimes = (db: Db, mergeRequestId: number): Promise<TimeRow | undefined> =>
  db.row<TimeRow>(times(mergeRequestId))

/** The same; others who change them wait. */
export const lockTimes = async (tx: Tx, mergeRequestId: number): Promise<TimeRow | undefined> => {
  const held = await tx.run(sql`select from merge_requests where id = ${mergeRequestId} for no key update`)
  return held > 0 ? findTimes(tx, mergeRequestId) : undefined
}

export const updateEstimate = (tx: Tx, mergeRequestId: number, seconds: number): Promise<number> =>
  tx.run(sql`update merge_requests set time_estimate = ${seconds}, updated_at = now() where id = ${mergeRequestId}`)

/** Negative when time is taken back. */
export const insertTimeLog = (tx: Tx, mergeRequestId: number, userId: number, seconds: number): Promise<number> =>
  tx.run(sql`
    with touched as (update merge_requests set updated_at = now() where id = ${mergeRequestId} returning id)
    insert into time_logs (merge_request_id, user_id, seconds) select id, ${userId}, ${seconds} from touched`)
