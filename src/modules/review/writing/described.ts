import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { parseQuickActions, type QuickAction } from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { editMergeRequest, type MergeRequestEdit } from '../merge-requests/edit.ts'
import { createMergeRequest, type MergeRequestInput } from '../merge-requests/service.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { mergeRequestActionNames, mergeRequestActions } from '../quick-actions/commands.ts'

/** A description without its quick actions, and these. */
function parsed<T extends { readonly description?: string | null }>(input: T): [T, readonly QuickAction[]] {
  if (!input.description) return [input, []]
  const { text, actions } = parseQuickActions(input.description, mergeRequestActionNames)
  return [{ ...input, description: text }, actions]
}

/** Applies quick actions of a description to a merge request of a project, as it is now. */
async function apply(ctx: Ctx, projectId: number, iid: number, actions: readonly QuickAction[]): Promise<void> {
  if (actions.length === 0) return
  const subject = await loadMergeRequest({ id: String(projectId), merge_request_iid: iid }, ctx)
  if (!subject) throw rowNotFound()
  await mergeRequestActions(subject).apply(ctx, actions)
}

/** Creates a merge request and applies the quick actions of its description, which does not keep them. */
export async function createDescribed(ctx: Ctx, source: ProjectSubject, given: MergeRequestInput) {
  const [input, actions] = parsed(given)
  const made = await createMergeRequest(ctx, source, input)
  await apply(ctx, made.target.id, made.iid, actions)
  return made
}

/** Updates a merge request and applies the quick actions of a new description, which does not keep them. */
export async function editDescribed(ctx: Ctx, subject: MergeRequestSubject, given: MergeRequestEdit): Promise<void> {
  const [edit, actions] = parsed(given)
  await editMergeRequest(ctx, subject, edit)
  await apply(ctx, subject.project_id, subject.iid, actions)
}
