import type { Db, Tx } from '../../../db/db.ts'
import { nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Share } from './shares.ts'
import { shareRow } from './shares.ts'

/** Largest share first. */
export const listLanguages = (db: Db, projectId: number): Promise<Share[]> =>
  db.rows(
    shareRow,
    sql`select name, share from project_languages where project_id = ${projectId} order by share desc, name`,
  )

/** The commit at which languages were counted; null if they never were. */
export const languagesCommit = async (db: Db, projectId: number): Promise<string | null> =>
  (
    await db.row(
      { languages_commit: nullable(text) },
      sql`select languages_commit from project_statistics where project_id = ${projectId}`,
    )
  )?.languages_commit ?? null

/** Replaces the previous counts. */
export async function saveLanguages(
  tx: Tx,
  projectId: number,
  commit: string | null,
  shares: readonly Share[],
): Promise<void> {
  const counted = await tx.run(
    sql`update project_statistics set languages_commit = ${commit} where project_id = ${projectId}`,
  )
  // The project is gone.
  if (counted === 0) return
  const names = shares.map(({ name }) => name)
  await tx.run(sql`delete from project_languages where project_id = ${projectId} and name <> all(${names}::text[])`)
  await tx.run(sql`
    insert into project_languages (project_id, name, share)
    select ${projectId}, s.name, s.share
    from unnest(${names}::text[], ${shares.map(({ share }) => share)}::real[]) as s (name, share)
    on conflict (project_id, name) do update set share = excluded.share
  `)
}
