import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { findRuleNamed } from './queries.ts'
import { createRuleIn, editRuleIn, lockHolder, ofProject, removeRuleIn } from './service.ts'

/** The rule of a project that has its approvers. */
export const ruleOfApprovers = 'Default'

/** Users and groups by ID; absent ones stay. */
export type ApproversInput = {
  readonly approver_ids?: readonly number[]
  readonly approver_group_ids?: readonly number[]
}

/**
 * Sets the users and groups of the rule of approvers, which is created with the first and deleted with the last of them. Concurrent calls
 * for a project take turns.
 */
export const setApprovers = (
  ctx: Ctx,
  project: ProjectSubject,
  { approver_ids, approver_group_ids }: ApproversInput,
): Promise<void> =>
  ctx.transaction(async (tx) => {
    const place = ofProject(project)
    await lockHolder(tx, place.holder)
    const found = await findRuleNamed(tx, project.id, ctx.actor, ruleOfApprovers)
    const named = {
      ...(approver_ids && { user_ids: approver_ids }),
      ...(approver_group_ids && { group_ids: approver_group_ids }),
    }
    const isEmpty =
      (approver_ids ?? found?.users ?? []).length + (approver_group_ids ?? found?.groups ?? []).length === 0 &&
      (approver_group_ids !== undefined || !found?.hides_groups)
    if (found && isEmpty && found.approvals_required === 0) await removeRuleIn(tx, ctx, place, found.id)
    else if (found) await editRuleIn(tx, ctx, place, found.id, named)
    else if (!isEmpty) await createRuleIn(tx, ctx, place, { name: ruleOfApprovers, approvals_required: 0, ...named })
  })
