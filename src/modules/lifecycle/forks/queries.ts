import type { Db, Tx } from '../../../db/db.ts'
import { boolean, json, nullable, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** Attributes of the source that a fork inherits, beyond those of its record. */
export const forkOriginRow = {
  description: nullable(text),
  settings: json<Record<string, unknown>>(),
}
export type ForkOrigin = RowOf<typeof forkOriginRow>

export const findForkOrigin = async (db: Db, id: number): Promise<ForkOrigin> =>
  (await db.row(forkOriginRow, sql`select description, settings from projects where id = ${id}`))!

/** Whether a project is the ancestor itself or a direct or indirect fork of it. */
export const descendsFrom = async (db: Db, projectId: number, ancestorId: number): Promise<boolean> =>
  (await db.row(
    { found: boolean },
    sql`
      with recursive above as (
        select id, forked_from_project_id
        from projects
        where id = ${projectId}
        union
        select p.id, p.forked_from_project_id
        from above a join projects p on p.id = a.forked_from_project_id
      )
      select exists (select from above where id = ${ancestorId}) as found
    `,
  ))!.found

/** Serialises changes of fork relations, so that two of them cannot form a cycle. */
export const lockForkRelations = (tx: Tx): Promise<number> =>
  tx.run(sql`select pg_advisory_xact_lock(hashtext('fork relations'))`)
