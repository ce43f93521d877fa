import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/**
 * Makes a new project a fork of another: copies its avatar and lowers its visibility to that of the source. The trigger
 * `count_forks` updates the count. False if the source is gone.
 */
export const becomeFork = async (tx: Tx, projectId: number, sourceId: number): Promise<boolean> =>
  (await tx.run(sql`
    with source as (
      select id, visibility, avatar, avatar_digest from projects where id = ${sourceId} and not deleting for no key update)
    update projects p set forked_from_project_id = s.id, visibility = least(p.visibility, s.visibility),
      avatar = s.avatar, avatar_digest = s.avatar_digest from source s where p.id = ${projectId}`)) > 0

/** Attributes of the source that a fork inherits, beyond those of its record. */
export const forkOriginRow = {
  description: nullable(text),
  settings: json<Record<string, unknown>>(),
}
export type ForkOrigin = RowOf<typeof forkOriginRow>

export const findForkOrigin = async (db: Db, id: number): Promise<ForkOrigin> =>
  (await db.row(forkOriginRow, sql`select description, settings from projects where id = ${id}`))!

/** Makes an existing project a fork of another. False if it is a fork already. */
export const linkFork = async (tx: Tx, projectId: number, sourceId: number): Promise<boolean> =>
  (await tx.run(sql`update projects set forked_from_project_id = ${sourceId}, updated_at = now()
    where id = ${projectId} and forked_from_project_id is null and not deleting`)) > 0

/** Ends a fork relation and returns the id of the source; undefined if there was none. */
export const unlinkFork = async (tx: Tx, projectId: number): Promise<number | undefined> =>
  (
    await tx.row(
      { source_id: notNull(integer) },
      sql`
      with held as (
        select id, forked_from_project_id as source_id from projects
        where id = ${projectId} and forked_from_project_id is not null and not deleting for update)
      update projects p set forked_from_project_id = null, updated_at = now() from held where p.id = held.id
      returning held.source_id`,
    )
  )?.source_id

/** Whether a project is the ancestor itself or a direct or indirect fork of it. */
export const descendsFrom = async (db: Db, projectId: number, ancestorId: number): Promise<boolean> =>
  (await db.row(
    { found: boolean },
    sql`
    with recursive above as (
      select id, forked_from_project_id from projects where id = ${projectId}
      union
      select p.id, p.forked_from_project_id from above a join projects p on p.id = a.forked_from_project_id)
    select exists (select from above where id = ${ancestorId}) as found`,
  ))!.found

/** Serialises changes of fork relations, so that two of them cannot form a cycle. */
export const lockForkRelations = (tx: Tx): Promise<number> => tx.run(sql`select pg_advisory_xact_lock(7180341::bigint)`)
