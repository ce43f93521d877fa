import type { Caller } from '../../access/actor.ts'
import { raw, type Sql, sql } from '../../db/sql.ts'
import { within } from '../access-index/queries.ts'
import { visibleGroups } from '../groups/queries.ts'

/** True for people (`u`) with a membership in a group, or in one above or below it, that the caller can see. */
export const peopleAround = (caller: Caller, traversalIds: readonly number[]): Sql => sql`u.id in (
  select m.user_id from namespaces g join members m on m.namespace_id = g.id and (m.expires_at is null or m.expires_at > current_date)
  where not g.deleting and (g.id = any(${traversalIds}::bigint[]) or ${within(raw('g.traversal_ids'), sql`${traversalIds}::bigint[]`)})
    and ${visibleGroups(caller)})`

/** True for people (`u`) who have a level in a project. */
export const peopleOf = (projectId: number, namespaceId: number): Sql => sql`u.id in (
  select user_id from group_access where group_id = ${namespaceId} and expires_on > current_date
  union all select user_id from project_access where project_id = ${projectId} and expires_on > current_date)`
