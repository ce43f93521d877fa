import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'

/** Who takes part in a merge request, a row by that name: author, assignees, who commented and who was mentioned. */
const participates = (userId: number, mergeRequest: Sql): Sql => sql`(${mergeRequest}.author_id = ${userId}
  or exists (select from merge_request_assignees a where a.merge_request_id = ${mergeRequest}.id and a.user_id = ${userId})
  or exists (select from notes n where n.merge_request_id = ${mergeRequest}.id and n.author_id = ${userId} and not n.system)
  or exists (select from mentions t where t.merge_request_id = ${mergeRequest}.id and t.user_id = ${userId}))`

/** Whether the caller is told of what happens to a merge request, a row by that name: as he chose, else when he takes part. */
export const subscribedSql = (caller: Caller, mergeRequest: Sql): Sql =>
  caller === null
    ? raw('false')
    : sql`coalesce(
        (select s.subscribed from subscriptions s where s.merge_request_id = ${mergeRequest}.id and s.user_id = ${caller.id}),
        ${participates(caller.id, mergeRequest)})`

export const findSubscribed = async (db: Db, caller: Caller, mergeRequestId: number): Promise<boolean> =>
  (
    await db.row<{ subscribed: boolean }>(sql`
    select ${subscribedSql(caller, raw('m'))} as subscribed from merge_requests m where m.id = ${mergeRequestId}`)
  )?.subscribed ?? false

/** Writes down what somebody chose; nothing when the merge request is gone. */
export const saveSubscription = (
  tx: Tx,
  mergeRequestId: number,
  userId: number,
  subscribed: boolean,
): Promise<number> =>
  tx.run(sql`
    insert into subscriptions (merge_request_id, user_id, subscribed)
    select m.id, ${userId}, ${subscribed} from merge_requests m where m.id = ${mergeRequestId}
    on conflict (merge_request_id, user_id) do update set subscribed = excluded.subscribed, updated_at = now()`)
