import { raw, type Sql, sql } from '../../../db/sql.ts'

/** The number of approvals that the project `p` requires. */
export const approvalsOfProject = raw(`coalesce((p.settings->>'approvals_before_merge')::integer, 0)`)

/** How many approvals the merge request `m` of project `p` requires: at least as many as its project. */
export const requiredApprovals: Sql = sql`greatest(m.approvals_before_merge, ${approvalsOfProject})`

/** Whether the merge request `m` of project `p` has as many approvals as it requires. */
export const isApprovedSql: Sql = sql`
  (select count(*) from approvals a where a.merge_request_id = m.id) >= ${requiredApprovals}
`
