import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { locatedRow, readableCode, visibleProjects } from '../../projects/index.ts'

const namedProjectRow = { ...locatedRow, full_path: text, path_key: text }
export type NamedProjectRow = RowOf<typeof namedProjectRow>

/** The projects with these full paths, in lower case, of those whose code the caller may read. `path_key` is the path. */
export const findCodeProjects = (db: Db, caller: Caller, paths: readonly string[]): Promise<NamedProjectRow[]> =>
  db.rows(
    namedProjectRow,
    sql`
      select p.id, p.repository_storage, p.repository_key, p.full_path, r.path_key
      from routes r join projects p on p.id = r.project_id and not p.deleting
      where r.path_key = any(${paths}::text[]) and ${visibleProjects(caller)} and ${readableCode(caller)}
    `,
  )
