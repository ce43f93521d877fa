import type { Db } from '../../../db/db.ts'
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { FailedRelation, ImportCounts } from './report-queries.ts'

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
  import_type: nullable(text),
  stats: nullable(json<ImportCounts>()),
  failed_relations: nullable(json<readonly FailedRelation[]>()),
}
export type ImportStateRow = RowOf<typeof importStateRow>

/** The project exists. */
export const findImportState = async (db: Db, projectId: number): Promise<ImportStateRow> =>
  (await db.row(
    importStateRow,
    sql`
      select p.id, p.description, p.name, n.full_name || ' / ' || p.name as name_with_namespace, p.path,
        p.full_path as path_with_namespace, p.created_at, p.import_status, p.import_error, r.import_type, r.stats,
        r.failed_relations
      from projects p join namespaces n on n.id = p.namespace_id left join import_reports r on r.project_id = p.id
      where p.id = ${projectId}
    `,
  ))!
