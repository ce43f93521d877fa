import type { Db } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/**
 * A branch of a merge request that allows collaboration: users who may merge it into the target project may push, as
 * long as the user who allowed it may push.
 */
export type SharedBranch = {
  readonly source_branch: string
  /** Target project of the merge request. */
  readonly project_id: number
  readonly target_branch: string
  readonly collaboration_user_id: number
}

/** Branches of a project for which open merge requests into other projects allow collaboration. */
export const sharedBranches = (db: Db, projectId: number): Promise<SharedBranch[]> =>
  db.rows<SharedBranch>(sql`
    select source_branch, project_id, target_branch, collaboration_user_id from merge_requests
    where source_project_id = ${projectId} and project_id <> ${projectId} and allow_collaboration
      and collaboration_user_id is not null and state in ('opened', 'locked')
    order by project_id, id`)
