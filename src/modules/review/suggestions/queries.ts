import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer, nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { readableRow } from '../../discussion/index.ts'
import { visibleProjects } from '../../projects/index.ts'

/** Those of the merge requests that the caller may read, by project and number. */
export const readablePlaces = (
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<{ project_id: number; iid: number }[]> =>
  db.rows(
    { project_id: integer, iid: integer },
    sql`
      select m.project_id, m.iid
      from merge_requests m join projects p on p.id = m.project_id
      where m.id = any(${ids}::bigint[])
        and not p.deleting
        and ${visibleProjects(caller)}
        and ${readableRow('MergeRequest', caller)}
    `,
  )

/** The template of commit messages of a project; null for the default. */
export const messageTemplate = async (db: Db, projectId: number): Promise<string | null> =>
  (
    await db.row(
      { template: nullable(text) },
      sql`select settings ->> 'suggestion_commit_message' as template from projects where id = ${projectId}`,
    )
  )?.template ?? null
