import { raw, type Sql, sql } from '../../db/sql.ts'
import type { Holder } from './holder.ts'

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

/** The columns that say whose a new row is; null but one, of the installation all. */
export const holderIds = ({ of, id }: Holder) => ({
  projectId: of === 'project' ? id : null,
  namespaceId: of === 'group' ? id : null,
  userId: of === 'user' ? id : null,
})
