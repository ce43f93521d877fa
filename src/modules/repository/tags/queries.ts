import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const releaseRow = {
  tag: text,
  description: text,
}
export type ReleaseRow = RowOf<typeof releaseRow>

/** Release notes of the given tags; tags without notes are left out. One statement. */
export const findReleases = (db: Db, projectId: number, tags: readonly string[]): Promise<ReleaseRow[]> =>
  db.rows(
    releaseRow,
    sql`select tag, description from releases where project_id = ${projectId} and tag = any(${tags}::text[])`,
  )

/** False if the tag has release notes already. */
export const insertReleaseNotes = async (
  tx: Tx,
  release: { projectId: number; tag: string; description: string; authorId: number },
): Promise<boolean> =>
  (await tx.run(sql`
    insert into releases (project_id, tag, description, author_id)
    values (${release.projectId}, ${release.tag}, ${release.description}, ${release.authorId})
    on conflict (project_id, tag) do nothing
  `)) > 0

/** False if the tag has no release notes. */
export const updateReleaseNotes = (tx: Tx, projectId: number, tag: string, description: string): Promise<number> =>
  tx.run(sql`
    update releases
    set description = ${description}, updated_at = now()
    where project_id = ${projectId} and tag = ${tag}
  `)

/** The release notes of a tag, locked until the transaction ends. Undefined without a release. */
export const lockReleaseNotes = async (tx: Tx, projectId: number, tag: string): Promise<string | undefined> =>
  (
    await tx.row(
      { description: text },
      sql`select description from releases where project_id = ${projectId} and tag = ${tag} for no key update`,
    )
  )?.description

const deletedReleaseRow = {
  release_id: integer,
  name: nullable(text),
  description: text,
  created_at: timestamp,
  released_at: timestamp,
}

/** The id of the release notes of a tag; undefined if it has none. */
export const findReleaseId = async (db: Db, projectId: number, tag: string): Promise<number | undefined> =>
  (await db.row({ id: integer }, sql`select id from releases where project_id = ${projectId} and tag = ${tag}`))?.id

/** What was deleted; undefined if another request was first. */
export const deleteRelease = (tx: Tx, id: number): Promise<RowOf<typeof deletedReleaseRow> | undefined> =>
  tx.row(
    deletedReleaseRow,
    sql`delete from releases where id = ${id} returning id as release_id, name, description, created_at, released_at`,
  )
