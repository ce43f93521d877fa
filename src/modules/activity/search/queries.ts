import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { idsInside, visibleGroups, within } from '../../namespaces/index.ts'
import {
  columns,
  levelOf,
  limitsColumn,
  type ProjectRow,
  projectRow,
  readableCode,
  visibleProjects,
} from '../../projects/index.ts'

/** True for users (`u`) with a membership in a group, or in one above or below it, that the caller can see. */
export const peopleAround = (caller: Caller, traversalIds: readonly number[]): Sql => sql`
  u.id in (
    select m.user_id
    from namespaces g join members m on m.namespace_id = g.id and ${unexpired('m')}
    where not g.deleting
      and (g.id = any(${traversalIds}::bigint[]) or ${within(raw('g.traversal_ids'), sql`${traversalIds}::bigint[]`)})
      and ${visibleGroups(caller)}
  )
`

/** No condition. */
export const everywhere: Sql = raw('true')

/** True for milestones whose project `p` or group `g` is a group or below it. */
export const milestonesBelow = (traversalIds: readonly number[]): Sql => sql`
  coalesce(p.namespace_id, g.id) = any(array(${idsInside(traversalIds)}))
`

/** True for users (`u`) who have a level in a project. */
export const peopleOf = (projectId: number, namespaceId: number): Sql => sql`
  u.id in (
    select user_id from group_access where group_id = ${namespaceId} and expires_on > current_date
    union all select user_id from project_access where project_id = ${projectId} and expires_on > current_date
  )
`

/**
 * Projects with code that the caller may read, latest activity first: of the installation, or of the group with these
 * traversal ids and its subgroups. One statement.
 */
export const projectsWithCode = (
  db: Db,
  caller: Caller,
  traversalIds: readonly number[] | undefined,
  limit: number,
): Promise<ProjectRow[]> =>
  db.rows(
    projectRow,
    sql`
      select ${columns}, ${levelOf(caller)} as level${limitsColumn(caller)}
      from projects p join project_activity a on a.id = p.id
      where not p.deleting
        and p.default_branch is not null
        and ${visibleProjects(caller)}
        and ${readableCode(caller)}
        and ${traversalIds === undefined ? raw('true') : sql`p.namespace_id = any(array(${idsInside(traversalIds)}))`}
      order by a.last_activity_at desc, a.id desc
      limit ${limit}
    `,
  )
