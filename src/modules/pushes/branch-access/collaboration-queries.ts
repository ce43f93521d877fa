import type { Db } from '../../../db/db.ts'
import { integer, notNull, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/**
 * A branch of a merge request that allows collaboration: users who may merge it into the target project may push, as
 * long as the user who allowed it may push.
 */
export const sharedBranchRow = {
  source_branch: text,
  /** Target project of the merge request. */
  project_id: integer,
  target_branch: text,
  collaboration_user_id: notNull(integer),
}
export type SharedBranch = RowOf<typeof sharedBranchRow>

/** Branches of a project for which open merge requests into other projects allow collaboration. */
export const sharedBranches = (db: Db, projectId: number): Promise<SharedBranch[]> =>
  db.rows(
    sharedBranchRow,
    sql`
      select source_branch, project_id, target_branch, collaboration_user_id
      from merge_requests
      where source_project_id = ${projectId}
        and project_id <> ${projectId}
        and allow_collaboration
        and collaboration_user_id is not null
        and state in ('opened', 'locked')
      order by project_id, id
    `,
  )
