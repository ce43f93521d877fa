import type { Tx } from '../../../db/db.ts'
import { type Sql, sql } from '../../../db/sql.ts'

/*
 * What a project's own row says of its pull mirror. `modules/lifecycle/pull-mirrors` has the rest. `which` selects ids of projects.
 */

/** Makes a project a pull mirror with this user, or ends that with `null`. The caller has locked the project. */
export const saveMirror = (tx: Tx, projectId: number, mirror: { userId: number } | null): Promise<number> =>
  tx.run(sql`
    update projects
    set mirror = ${mirror !== null}, mirror_user_id = ${mirror?.userId ?? null}, updated_at = now()
    where id = ${projectId}
  `)

/** Fragment that records the result of an update of a mirror. Changes no row that already says so. */
export const mirrorUpdated = (which: Sql, error: string | null): Sql => {
  const status = error === null ? 'finished' : 'failed'
  return sql`
    update projects
    set import_status = ${status}, import_error = ${error}
    where id in (${which})
      and import_status not in ('scheduled', 'started')
      and (import_status, import_error) is distinct from (${status}, ${error}::text)
  `
}

/** Fragment that takes their user from all mirrors of a user; returns `id` of each project. */
export const mirrorsWithoutUser = (userId: number, error: string): Sql =>
  sql`
    update projects
    set mirror_user_id = null, import_status = 'failed', import_error = ${error}
    where mirror_user_id = ${userId}
    returning id
  `
