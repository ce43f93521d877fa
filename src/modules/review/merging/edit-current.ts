import type { Ctx } from '../../../api/ctx.ts'
import { editMergeRequest, type MergeRequestEdit } from '../merge-requests/edit.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { syncWithBranches } from './update.ts'

/**
 * Updates a merge request. A new target branch makes a version with the current head, so a push that the job has not followed yet is
 * followed first: its commits would look known afterwards.
 */
export async function editCurrent(ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit): Promise<void> {
  if (edit.target_branch !== undefined && edit.target_branch !== subject.target_branch)
    await syncWithBranches(ctx, subject.id)
  await editMergeRequest(ctx, subject, edit)
}
