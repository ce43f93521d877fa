import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { findRuleNamed } from './queries.ts'
import { createRule, editRule, ofProject, removeRule } from './service.ts'

/** The rule of a project that has its approvers. */
export const ruleOfApprovers = 'Default'

/** Users and groups by ID; absent ones stay. */
export type ApproversInput = {
  readonly approver_ids?: readonly number[]
  readonly approver_group_ids?: readonly number[]
}

/** Sets the users and groups of the rule of approvers, which is created with the first and deleted with the last of them. */
export async function setApprovers(
  ctx: Ctx,
  project: ProjectSubject,
  { approver_ids, approver_group_ids }: ApproversInput,
): Promise<void> {
  const place = ofProject(project)
  const found = await findRuleNamed(ctx.db, project.id, ctx.actor, ruleOfApprovers)
  const named = {
    ...(approver_ids && { user_ids: approver_ids }),
    ...(approver_group_ids && { group_ids: approver_group_ids }),
  }
  const isEmpty =
    (approver_ids ?? found?.users ?? []).length + (approver_group_ids ?? found?.groups ?? []).length === 0 &&
    (approver_group_ids !== undefined || !found?.hides_groups)
  if (found && isEmpty && found.approvals_required === 0) await removeRule(ctx, place, found.id)
  else if (found) await editRule(ctx, place, found.id, named)
  else if (!isEmpty) await createRule(ctx, place, { name: ruleOfApprovers, approvals_required: 0, ...named })
}
