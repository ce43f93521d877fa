import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type QuickActions, saveWithActions } from '../../discussion/index.ts'
import { withoutQuickActions } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { MergeRequestEdit } from '../merge-requests/edit.ts'
import { type MergeRequestInput, prepareMergeRequest } from '../merge-requests/service.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { saveCurrent } from '../merging/edit-current.ts'
import { mergeRequestActionLocks, mergeRequestActionNames, mergeRequestActions } from '../quick-actions/commands.ts'

/** The quick actions of a merge request of a project, as it is now. */
async function actionsOf(ctx: Ctx, projectId: number, iid: number): Promise<QuickActions> {
  const subject = await loadMergeRequest({ id: String(projectId), merge_request_iid: iid }, ctx)
  if (!subject) throw rowNotFound()
  return mergeRequestActions(subject)
}

/**
 * Creates a merge request and applies the quick actions of its description, which does not keep them, as `saveWithActions` does. Callers
 * who may create it and not read it cannot take any.
 */
export async function createDescribed(ctx: Ctx, source: ProjectSubject, given: MergeRequestInput) {
  const { input, actions } = withoutQuickActions(given, mergeRequestActionNames)
  const { target, save } = await prepareMergeRequest(ctx, source, input)
  const isReader = allows(mergeRequestPolicy.read_merge_request, ctx.actor, target.facts)
  if (actions.length === 0 || !isReader) return save(ctx)
  const { saved } = await saveWithActions(ctx, actions, mergeRequestActionLocks(target), save, (now, { iid }) =>
    actionsOf(now, target.id, iid),
  )
  return saved
}

/** Updates a merge request and applies the quick actions of a new description, which does not keep them, as `saveWithActions` does. */
export async function editDescribed(ctx: Ctx, subject: MergeRequestSubject, given: MergeRequestEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, mergeRequestActionNames)
  await saveCurrent(ctx, subject, edit, (save) =>
    actions.length === 0
      ? save(ctx)
      : saveWithActions(ctx, actions, mergeRequestActionLocks(subject.project), save, (now) =>
          actionsOf(now, subject.project_id, subject.iid),
        ),
  )
}
