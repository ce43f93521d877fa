import type { Db, Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** What a project gives to its forks beside what a record shows. */
export type ForkOrigin = { description: string | null; settings: Record<string, unknown> }

export const findForkOrigin = async (db: Db, id: number): Promise<ForkOrigin> =>
  (await db.row<ForkOrigin>(sql`select description, settings from projects where id = ${id}`))!

/** Whether a project is another, or one of its forks, or of theirs. */
export const descendsFrom = async (db: Db, projectId: number, ancestorId: number): Promise<boolean> =>
  (await db.row<{ found: boolean }>(sql`
    with recursive above as (
      select id, forked_from_project_id from projects where id = ${projectId}
      union
      select p.id, p.forked_from_project_id from above a join projects p on p.id = a.forked_from_project_id)
    select exists (select from above where id = ${ancestorId}) as found`))!.found

/** One new relation at a time, so that two of them cannot make a circle. */
export const lockForkRelations = (tx: Tx): Promise<number> => tx.run(sql`select pg_advisory_xact_lock(7180341::bigint)`)
