import type { Actor } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Tx } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { type RowOf, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { openTo, userReferenceColumns, userReferenceRow } from '../../accounts/index.ts'

/**
 * False if it was starred already. Updates the count in the same statement. Locks the user before the project, as the deletion of an account
 * does.
 */
export const insertStar = async (tx: Tx, userId: number, projectId: number): Promise<boolean> =>
  (await tx.run(sql`
    with starred as (
      insert into stars (user_id, project_id)
      select id, ${projectId}
      from users
      where id = ${userId}
      for key share
      on conflict do nothing
      returning project_id
    )
    update projects
    set star_count = star_count + 1
    where id in (select project_id from starred)
  `)) > 0

/** False if it was not starred. */
export const deleteStar = async (tx: Tx, userId: number, projectId: number): Promise<boolean> =>
  (await tx.run(sql`
    with unstarred as (delete from stars where user_id = ${userId} and project_id = ${projectId} returning project_id)
    update projects
    set star_count = star_count - 1
    where id in (select project_id from unstarred)
  `)) > 0

export const starrerRow = { ...userReferenceRow, starred_since: timestamp }
export type StarrerRow = RowOf<typeof starrerRow>

/**
 * Users who starred a project, oldest star first. Users with private profiles are visible to themselves and
 * administrators only.
 */
export const starrersOf = (projectId: number, caller: Actor | null, search: string | undefined): List => ({
  type: 'User',
  select: sql`
    select ${userReferenceColumns}, s.created_at as starred_since from stars s join users u on u.id = s.user_id
  `,
  from: sql`from stars s join users u on u.id = s.user_id`,
  where: [
    sql`s.project_id = ${projectId}`,
    openTo(caller),
    ...(search?.trim()
      ? [sql`(${fuzzy(search, ['u.name', 'u.username'])} or lower(u.email) = lower(${search.trim()}))`]
      : []),
  ],
  order: [
    { by: sql`s.created_at`, direction: 'asc' },
    { by: sql`u.id`, direction: 'asc' },
  ],
})

/** Deletes the stars of a user and decrements the counts of the projects. */
export const deleteStarsOf = (tx: Tx, userId: number): Promise<number> =>
  tx.run(sql`
    with gone as (delete from stars where user_id = ${userId} returning project_id)
    update projects
    set star_count = star_count - 1
    where id in (select project_id from gone)
  `)
