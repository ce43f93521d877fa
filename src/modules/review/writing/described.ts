import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { QuickAction } from '../../discussion/index.ts'
import { withoutQuickActions } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { MergeRequestEdit } from '../merge-requests/edit.ts'
import { createMergeRequest, type MergeRequestInput } from '../merge-requests/service.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { editCurrent } from '../merging/edit-current.ts'
import { mergeRequestActionNames, mergeRequestActions } from '../quick-actions/commands.ts'

/** Applies quick actions of a description to a merge request of a project, as it is now. */
async function apply(ctx: Ctx, projectId: number, iid: number, actions: readonly QuickAction[]): Promise<void> {
  if (actions.length === 0) return
  const subject = await loadMergeRequest({ id: String(projectId), merge_request_iid: iid }, ctx)
  if (!subject) throw rowNotFound()
  await mergeRequestActions(subject).apply(ctx, actions)
}

/**
 * Creates a merge request and applies the quick actions of its description, which does not keep them. Callers who may create it and
 * not read it cannot take any. Actions have transactions of their own, because some move refs: a crash in between loses them,
 * and the request is not answered.
 */
export async function createDescribed(ctx: Ctx, source: ProjectSubject, given: MergeRequestInput) {
  const { input, actions } = withoutQuickActions(given, mergeRequestActionNames)
  const made = await createMergeRequest(ctx, source, input)
  if (allows(mergeRequestPolicy.read_merge_request, ctx.actor, made.target.facts))
    await apply(ctx, made.target.id, made.iid, actions)
  return made
}

/** Updates a merge request and applies the quick actions of a new description, which does not keep them. */
export async function editDescribed(ctx: Ctx, subject: MergeRequestSubject, given: MergeRequestEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, mergeRequestActionNames)
  await editCurrent(ctx, subject, edit)
  await apply(ctx, subject.project_id, subject.iid, actions)
}
