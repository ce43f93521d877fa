import { type Sql, sql } from '../../../db/sql.ts'
import type { NewEvent } from '../../../events/catalogue.ts'
import { within } from '../../namespaces/index.ts'

/**
 * An account or a group is deleted, the latter with the groups below it, or the last token of a bot ends, and with it its membership. Jobs
 * delete their rows later.
 */
export type AccountOrGroupDeleted = NewEvent<'user_deleted'> | NewEvent<'group_deleted'> | NewEvent<'member_removed'>

/** Accounts, and groups with those below them, that are deleted. */
export type Deleted = { readonly userIds: readonly number[]; readonly groupIds: readonly number[] }

/** What the events of one change delete; undefined if they delete nothing, because only memberships of users end. */
export function deletedBy(events: readonly AccountOrGroupDeleted[]): Deleted | undefined {
  const userIds = events.flatMap((event) =>
    event.kind === 'user_deleted' || (event.kind === 'member_removed' && event.payload.bot)
      ? event.payload.user_id
      : [],
  )
  const groupIds = events.flatMap((event) => (event.kind === 'group_deleted' ? event.groupId : []))
  return userIds.length + groupIds.length === 0 ? undefined : { userIds, groupIds }
}

/** Condition on a row that names a user and a row that names a group, as their ids: one of them is deleted. */
export const isDeletedBy = ({ userIds, groupIds }: Deleted, userId: Sql, groupId: Sql): Sql =>
  groupIds.length === 0
    ? sql`${userId} = any(${userIds}::bigint[])`
    : sql`
      (
        ${userId} = any(${userIds}::bigint[])
        or ${groupId} in (
          select d.id
          from namespaces g join namespaces d on ${within(sql`d.traversal_ids`, sql`g.traversal_ids`)}
          where g.id = any(${groupIds}::bigint[])
        )
      )
    `
