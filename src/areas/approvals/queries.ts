import type { Db } from '../../db/db.ts'
import { raw, type Sql, sql } from '../../db/sql.ts'
import type { Plan } from '../../kernel/plan.ts'
import { planOffers } from '../../kernel/plan.ts'

/** Which merge requests a list keeps: those without anybody, those with somebody, or those with all of these. */
export type PeopleFilter = 'None' | 'Any' | readonly number[]

const filtered = (people: Sql, filter: PeopleFilter): Sql => {
  if (filter === 'None') return sql`not exists (${people})`
  if (filter === 'Any') return sql`exists (${people})`
  return sql`${[...new Set(filter)]}::bigint[] <@ array(${people})`
}

/** Condition on the merge request with this id: who approved it. */
export const approvedBy = (mergeRequestId: Sql, filter: PeopleFilter): Sql =>
  filtered(sql`select a.user_id from approvals a where a.merge_request_id = ${mergeRequestId}`, filter)

/** Condition on the merge request with this id: whom its author asks to approve it. */
export const approvedWanted = (mergeRequestId: Sql, filter: PeopleFilter): Sql =>
  filtered(sql`select a.user_id from approvers a where a.merge_request_id = ${mergeRequestId}`, filter)

/** How many approvals the merge request `m` of project `p` needs. */
export const requiredApprovals: Sql = raw(
  `coalesce(m.approvals_before_merge, (p.settings->>'approvals_before_merge')::integer, 0)`,
)

/** Whether as many approved a merge request as it needs, which is nobody on a plan without approvals. */
export async function isApproved(db: Db, mergeRequestId: number, plan: Plan): Promise<boolean> {
  if (!planOffers(plan, 'starter')) return true
  const row = await db.row<{ approved: boolean }>(sql`
    select (select count(*) from approvals a where a.merge_request_id = m.id) >= ${requiredApprovals} as approved
    from merge_requests m join projects p on p.id = m.project_id where m.id = ${mergeRequestId}`)
  return row?.approved ?? false
}
