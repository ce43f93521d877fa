import type { Caller } from '../../../access/actor.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { visibleGroups, within } from '../../namespaces/index.ts'
import type { Holder, ProjectOrGroupHolder } from './holder.ts'

/** Rows of the table called `alias` that belong to the holder; those of the installation belong to nothing else. */
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

/** Rows of the table called `alias` that a project has: its own, and those of the groups around it. */
export const reaching = (alias: string, projectId: Sql): Sql => sql`(${raw(alias)}.project_id = ${projectId}
  or ${raw(alias)}.namespace_id = any(array(select unnest(n.traversal_ids) from projects p
    join namespaces n on n.id = p.namespace_id and n.kind = 'group' where p.id = ${projectId})))`

/**
 * Rows of the table called `alias` that a project or group has: its own, and those of the groups around it. Whoever reads a
 * project reads the groups around it; of those around a group he is told what he may know of.
 */
export const around = (alias: string, { of, id }: ProjectOrGroupHolder, caller: Caller): Sql =>
  of === 'project'
    ? reaching(alias, sql`${id}`)
    : sql`${raw(alias)}.namespace_id = any(array(select g.id from namespaces held join namespaces g on g.id = any(held.traversal_ids)
        where held.id = ${id} and (g.id = ${id} or ${visibleGroups(caller)})))`

/** Projects `p` that are the holder, or lie below it. */
export const projectsIn = ({ of, id }: ProjectOrGroupHolder): Sql =>
  of === 'project'
    ? sql`p.id = ${id}`
    : sql`p.namespace_id in (select d.id from namespaces outermost join namespaces d
        on ${within(raw('d.traversal_ids'), raw('outermost.traversal_ids'))} where outermost.id = ${id})`

/** Projects that moved, as a selection of their ids, and the groups that are no longer around them. */
export type Moved = { readonly projects: Sql; readonly leftGroups: readonly number[] }

/** The columns that say whose a new row is; null but one, of the installation all. */
export const holderIds = ({ of, id }: Holder) => ({
  projectId: of === 'project' ? id : null,
  namespaceId: of === 'group' ? id : null,
  userId: of === 'user' ? id : null,
})
