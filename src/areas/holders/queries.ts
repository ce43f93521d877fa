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

/** The columns that say whose a new row is; null but one, of the installation all. */
export const holderIds = ({ of, id }: Holder) => ({
  projectId: of === 'project' ? id : null,
  namespaceId: of === 'group' ? id : null,
  userId: of === 'user' ? id : null,
})
