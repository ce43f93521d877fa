import { type Sql, sql } from '../../db/sql.ts'
import type { Oid } from '../../git/oid.ts'

/** Whether an open merge request is about one of some branches of a project. Two probes of an index when there is none. */
export const isOpenAround = (projectId: number, branches: readonly string[]): Sql => sql`exists (
    select from merge_requests where project_id = ${projectId} and target_branch = any(${branches}::text[]) and state in ('opened', 'locked'))
  or exists (
    select from merge_requests where source_project_id = ${projectId} and source_branch = any(${branches}::text[])
      and state in ('opened', 'locked'))`

/** Whether a merge request waits for a pipeline of a commit. */
export const isAwaited = (projectId: number, sha: Oid): Sql => sql`exists (
  select from merge_requests where auto_merge_user_id is not null and auto_merge_oid = ${sha} and source_project_id = ${projectId}
    and state = 'opened')`
