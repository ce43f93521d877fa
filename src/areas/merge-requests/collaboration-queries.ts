import type { Db } from '../../db/db.ts'
import { sql } from '../../db/sql.ts'

/** A branch that those who may merge it somewhere may push to. */
export type SharedBranch = {
  readonly source_branch: string
  /** Into which it is to be merged. */
  readonly project_id: number
  readonly target_branch: string
}

/** Branches of a project of which open merge requests into other projects say so. */
export const sharedBranches = (db: Db, projectId: number): Promise<SharedBranch[]> =>
  db.rows<SharedBranch>(sql`
    select source_branch, project_id, target_branch from merge_requests
    where source_project_id = ${projectId} and project_id <> ${projectId} and allow_collaboration and state in ('opened', 'locked')
    order by project_id, id`)
