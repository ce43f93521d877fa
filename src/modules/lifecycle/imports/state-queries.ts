import type { Db } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'

export type ImportStateRow = {
  id: number
  description: string | null
  name: string
  name_with_namespace: string
  path: string
  path_with_namespace: string
  created_at: Timestamp
  import_status: 'none' | 'scheduled' | 'started' | 'finished' | 'failed'
  import_error: string | null
}

/** The project exists. */
export const findImportState = async (db: Db, projectId: number): Promise<ImportStateRow> =>
  (await db.row<ImportStateRow>(sql`
    select p.id, p.description, p.name, n.full_name || ' / ' || p.name as name_with_namespace, p.path,
      p.full_path as path_with_namespace, p.created_at, p.import_status, p.import_error
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`))!
