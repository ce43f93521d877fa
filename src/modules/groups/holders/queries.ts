import type { Caller } from '../../../access/actor.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { visibleGroups, within } from '../../namespaces/index.ts'
import type { Holder, ProjectOrGroupHolder } from './holder.ts'

/** True for rows of the table `alias` that belong to the holder; those of the installation have no other holder. */
export function heldBy(alias: string, { of, id }: Holder): Sql {
  switch (of) {
    case 'project':
      return sql`${raw(alias)}.project_id = ${id}`
    case 'group':
      return sql`${raw(alias)}.namespace_id = ${id}`
    case 'user':
      return sql`${raw(alias)}.user_id = ${id}`
    case 'instance':
      return raw(`(${alias}.project_id is null and ${alias}.namespace_id is null)`)
  }
}

/** True for rows of the table `alias` that belong to a project or to the groups above it. */
export const reaching = (alias: string, projectId: Sql): Sql => sql`
  (
    ${raw(alias)}.project_id = ${projectId}
    or ${raw(alias)}.namespace_id = any(
      array(
        select unnest(n.traversal_ids)
        from projects p join namespaces n on n.id = p.namespace_id and n.kind = 'group'
        where p.id = ${projectId}
      )
    )
  )
`

/** As `reaching`, of a project or group. */
export const reachingHolder = (alias: string, { of, id }: ProjectOrGroupHolder): Sql =>
  of === 'project'
    ? reaching(alias, sql`${id}`)
    : sql`${raw(alias)}.namespace_id = any((select traversal_ids from namespaces where id = ${id})::bigint[])`

/**
 * True for rows of the table `alias` that belong to a project or group, or to the groups above it. Readers of a project
 * may read the groups above it; above a group, only visible groups count.
 */
export const around = (alias: string, { of, id }: ProjectOrGroupHolder, caller: Caller): Sql =>
  of === 'project'
    ? reaching(alias, sql`${id}`)
    : sql`
      ${raw(alias)}.namespace_id = any(
        array(
          select g.id
          from namespaces held join namespaces g on g.id = any(held.traversal_ids)
          where held.id = ${id} and (g.id = ${id} or ${visibleGroups(caller)})
        )
      )
    `

/** Projects `p` that are the holder or below it. */
export const projectsIn = ({ of, id }: ProjectOrGroupHolder): Sql =>
  of === 'project'
    ? sql`p.id = ${id}`
    : sql`
      p.namespace_id in (
        select d.id
        from namespaces outermost join namespaces d on ${within(raw('d.traversal_ids'), raw('outermost.traversal_ids'))}
        where outermost.id = ${id}
      )
    `

/** Moved projects, as a subquery of their ids, and the groups that are no longer above them. */
export type Moved = { readonly projects: Sql; readonly leftGroups: readonly number[] }

/** Holder columns of a new row: at most one is not null; all are null for the installation. */
export const holderIds = ({ of, id }: Holder) => ({
  projectId: of === 'project' ? id : null,
  namespaceId: of === 'group' ? id : null,
  userId: of === 'user' ? id : null,
})
