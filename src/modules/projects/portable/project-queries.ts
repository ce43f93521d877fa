import type { Db } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { featureLevelsRow } from '../projects/features.ts'
import type { StoredSettings } from '../projects/settings.ts'

export const portableProjectRow = {
  description: nullable(text),
  visibility_level: integer,
  archived: boolean,
  default_branch: nullable(text),
  topics: listOf(text),
  created_at: timestamp,
  settings: json<StoredSettings>(),
  ...featureLevelsRow,
}
export type PortableProject = RowOf<typeof portableProjectRow>

/** Attributes of a project that are the same wherever it is. */
export const findPortableProject = (db: Db, id: number): Promise<PortableProject | undefined> =>
  db.row(
    portableProjectRow,
    sql`
      select description, visibility as visibility_level, archived, default_branch, topics, created_at, settings,
        ${raw(Object.keys(featureLevelsRow).join(', '))}
      from projects
      where id = ${id} and not deleting
    `,
  )

/** Times of an imported project. */
export const saveCreation = (db: Db, id: number, createdAt: string): Promise<number> =>
  db.run(sql`update projects set created_at = ${createdAt} where id = ${id}`)
