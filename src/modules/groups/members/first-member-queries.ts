import { levels } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { boolean, integer, notNull, nullable, type RowOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { insertMembers } from './new-member-queries.ts'

const firstMemberRow = { user_id: notNull(integer), level_before: nullable(integer), unchanged: nullable(boolean) }

/** The level of the first member of a project. */
export const firstLevel = levels.maintainer

/**
 * Makes the owner of a personal namespace a member of a project in it, and otherwise its creator. Returns that user, and the membership
 * before, if there was one.
 */
export const insertFirstMember = (tx: Tx, projectId: number): Promise<RowOf<typeof firstMemberRow> | undefined> =>
  tx.row(
    firstMemberRow,
    insertMembers(
      sql`
        select null::bigint as namespace_id, p.id as project_id, u.id as user_id,
          ${firstLevel}::smallint as access_level, null::date as expires_at, u.id as created_by_id
        from projects p
          join namespaces n on n.id = p.namespace_id
          join users u on u.id = coalesce(n.owner_id, p.creator_id)
        where p.id = ${projectId}
      `,
      sql`
        (project_id, user_id)
        where project_id is not null do update
        set access_level = excluded.access_level, expires_at = null, updated_at = now()
      `,
      sql`
        select a.user_id, before.access_level as level_before, before.access_level = ${firstLevel}
          and before.expires_at is null as unchanged
        from added a left join members before on before.project_id = a.project_id and before.user_id = a.user_id
      `,
    ),
  )
