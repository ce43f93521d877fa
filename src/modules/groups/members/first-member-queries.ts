import { levels } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { projectPlaced } from '../../namespaces/index.ts'
import { insertMembers } from './new-member-queries.ts'

/** Makes the owner of a personal namespace a member of a project in it, and otherwise its creator. */
export const insertFirstMember = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(
    insertMembers(
      sql`
        select null::bigint as namespace_id, p.id as project_id, u.id as user_id,
          ${levels.maintainer}::smallint as access_level, null::date as expires_at, u.id as created_by_id
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
    ),
  )

/** Makes the first member of a project, and with that the access of all. */
export const addFirstMember: Reaction<'project_created'> = async (tx, { projectId }) => {
  await insertFirstMember(tx, projectId)
  // No other transaction can depend on a project that is not committed: the access lock is not needed.
  await projectPlaced(tx, projectId)
}
