import { type Sql, sql } from '../../../db/sql.ts'
import type { NewEvent } from '../../../events/catalogue.ts'
import { within } from '../../namespaces/index.ts'

/** An account or a group is deleted, the latter with the groups below it. Jobs delete their rows later. */
export type AccountOrGroupDeleted = NewEvent<'user_deleted'> | NewEvent<'group_deleted'>

/** Condition on a row that names a user and a row that names a group, as their ids: one of them is what the event deletes. */
export const isDeletedBy = (event: AccountOrGroupDeleted, userId: Sql, groupId: Sql): Sql =>
  event.kind === 'user_deleted'
    ? sql`${userId} = ${event.payload.user_id}`
    : sql`
      ${groupId} in (
        select d.id
        from namespaces g join namespaces d on ${within(sql`d.traversal_ids`, sql`g.traversal_ids`)}
        where g.id = ${event.groupId}
      )
    `
