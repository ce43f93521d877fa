import type { Db } from '../../../db/db.ts'
import { integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const importStateRow = {
  id: integer,
  description: nullable(text),
  name: text,
  name_with_namespace: text,
  path: text,
  path_with_namespace: text,
  created_at: timestamp,
  import_status: oneOf('none', 'scheduled', 'started', 'finished', 'failed'),
  import_error: nullable(text),
}
export type ImportStateRow = RowOf<typeof importStateRow>

/** The project exists. */
export const findImportState = async (db: Db, projectId: number): Promise<ImportStateRow> =>
  (await db.row(
    importStateRow,
    sql`
      select p.id, p.description, p.name, n.full_name || ' / ' || p.name as name_with_namespace, p.path,
        p.full_path as path_with_namespace, p.created_at, p.import_status, p.import_error
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
    `,
  ))!
