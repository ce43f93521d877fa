import type { Ctx } from '../../../api/ctx.ts'
import { findUnnamed } from './any-approver-queries.ts'
import type { ApprovalStateRow } from './entity.ts'
import { appliedRules } from './queries.ts'

/** The rules that apply to a merge request, with their approvals. Two statements. */
export async function getApprovalState(ctx: Ctx, mergeRequestId: number): Promise<ApprovalStateRow> {
  const [rules, unnamed] = await Promise.all([
    appliedRules(ctx.db, mergeRequestId, ctx.actor),
    findUnnamed(ctx.db, mergeRequestId),
  ])
  // Of several numbers for any approver, the greatest counts.
  const named = rules.filter(({ rule_type }) => rule_type === 'any_approver').map((rule) => rule.approvals_required)
  return { rules, unnamed: unnamed && unnamed.required > Math.max(0, ...named) ? unnamed : undefined }
}
