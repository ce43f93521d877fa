import type { Ctx } from '../../../api/ctx.ts'
import { type MergeRequestEdit, prepareEdit, type SaveEdit } from '../merge-requests/edit.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { syncWithBranches } from './update.ts'

/**
 * Updates a merge request. A new target branch makes a version with the current head, so a push that the job has not followed yet is
 * followed first: its commits would look known afterwards.
 */
export const editCurrent = async (ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit): Promise<void> =>
  (await prepareCurrent(ctx, subject, edit))(ctx)

/** The first step of `editCurrent`, which reads and brings commits. */
export async function prepareCurrent(
  ctx: Ctx,
  subject: MergeRequestSubject,
  edit: MergeRequestEdit,
): Promise<SaveEdit> {
  if (edit.target_branch !== undefined && edit.target_branch !== subject.target_branch)
    await syncWithBranches(ctx, subject.id)
  return prepareEdit(ctx, subject, edit)
}
