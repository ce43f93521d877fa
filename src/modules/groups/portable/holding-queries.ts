import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import { insertMembers } from '../members/new-member-queries.ts'

/**
 * Members, shares and notification settings of a project also become those of another. The access lock is held. Bots stay: their tokens
 * end with the project.
 */
export async function copyHoldings(tx: Tx, fromId: number, toId: number): Promise<void> {
  // First, because memberships show the level.
  await tx.run(sql`
    insert into notification_settings (user_id, project_id, level, events, notification_email, created_at)
    select user_id, ${toId}, level, events, notification_email, created_at
    from notification_settings
    where project_id = ${fromId}
    order by id
    on conflict do nothing
  `)
  await tx.run(
    insertMembers(
      sql`
        select null::bigint as namespace_id, ${toId}::bigint as project_id, m.user_id, m.access_level, m.expires_at,
          m.created_by_id
        from members m join users u on u.id = m.user_id
        where m.project_id = ${fromId} and u.kind <> 'bot'
      `,
      sql`
        (project_id, user_id)
        where project_id is not null do update
        set access_level = excluded.access_level, expires_at = excluded.expires_at,
          notification_level = excluded.notification_level
      `,
    ),
  )
  await tx.run(sql`
    insert into project_group_links (project_id, group_id, group_access, expires_at, created_at)
    select ${toId}, group_id, group_access, expires_at, created_at
    from project_group_links
    where project_id = ${fromId}
    order by id
    on conflict do nothing
  `)
}
