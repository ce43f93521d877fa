import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Stars, forks and deploy keys of a project become those of another. */
export async function moveFollowers(tx: Tx, fromId: number, toId: number): Promise<void> {
  await tx.run(sql`
    insert into stars (user_id, project_id, created_at)
    select user_id, ${toId}, created_at
    from stars
    where project_id = ${fromId}
    on conflict do nothing
  `)
  await tx.run(sql`
    update projects set star_count = (select count(*) from stars where project_id = ${toId}) where id = ${toId}
  `)
  await tx.run(sql`
    update projects set forked_from_project_id = ${toId} where forked_from_project_id = ${fromId} and id <> ${toId}
  `)
  await tx.run(sql`
    insert into deploy_key_projects (deploy_key_id, project_id, can_push, created_at)
    select deploy_key_id, ${toId}, can_push, created_at
    from deploy_key_projects
    where project_id = ${fromId}
    order by id
    on conflict do nothing
  `)
}

/** Gives a project a name and path, whose route is claimed by the caller. */
export const saveName = (
  tx: Tx,
  id: number,
  { name, path, fullPath }: { readonly name: string; readonly path: string; readonly fullPath: string },
): Promise<number> =>
  tx.run(
    sql`
      update projects set name = ${name}, path = ${path}, full_path = ${fullPath}, updated_at = now() where id = ${id}
    `,
  )
