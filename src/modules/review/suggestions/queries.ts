import type { Db } from '../../../db/db.ts'
import { integer, nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** The merge requests of these ids, by project and number. */
export const placesOf = (db: Db, ids: readonly number[]): Promise<{ id: number; project_id: number; iid: number }[]> =>
  db.rows(
    { id: integer, project_id: integer, iid: integer },
    sql`select id, project_id, iid from merge_requests where id = any(${ids}::bigint[])`,
  )

/** The template of commit messages of a project; null for the default. */
export const messageTemplate = async (db: Db, projectId: number): Promise<string | null> =>
  (
    await db.row(
      { template: nullable(text) },
      sql`select settings ->> 'suggestion_commit_message' as template from projects where id = ${projectId}`,
    )
  )?.template ?? null
