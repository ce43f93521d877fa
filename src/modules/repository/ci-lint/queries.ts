import type { Db } from '../../../db/db.ts'
import { nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** The path of the pipeline configuration that the project sets; null for the usual one. */
export const configPathOf = async (db: Db, projectId: number): Promise<string | null> =>
  (
    await db.row(
      { path: nullable(text) },
      sql`select settings ->> 'ci_config_path' as path from projects where id = ${projectId}`,
    )
  )?.path ?? null
