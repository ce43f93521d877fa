import { type Sql, sql } from '../../db/sql.ts'

export type TimeRow = { readonly time_estimate: number; readonly total_time_spent: number }

/** Seconds that were spent on a merge request. */
export const timeSpentSql = (mergeRequestId: Sql): Sql =>
  sql`(select coalesce(sum(s.seconds), 0)::integer from time_logs s where s.merge_request_id = ${mergeRequestId})`
