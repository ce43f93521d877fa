import type { Ctx } from '../../../api/ctx.ts'
import { conflict, rowNotFound } from '../../../kernel/failure.ts'
import { type MergeRequestEdit, prepareEdit, type SaveEdit, VersionReplaced } from '../merge-requests/edit.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { syncWithBranches } from './update.ts'

/**
 * Updates a merge request. A new target branch makes a version with the current head, so a push that the job has not followed yet is
 * followed first: its commits would look known afterwards.
 */
export const editCurrent = (ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit): Promise<void> =>
  saveCurrent(ctx, subject, edit, (save) => save(ctx))

/** The same for callers who save the edit together with something else, which `save` does: both once more if a push was followed meanwhile. */
export async function saveCurrent(
  ctx: Ctx,
  subject: MergeRequestSubject,
  edit: MergeRequestEdit,
  save: (saveEdit: SaveEdit) => Promise<unknown>,
): Promise<void> {
  try {
    await save(await prepareCurrent(ctx, subject, edit))
  } catch (error) {
    if (!(error instanceof VersionReplaced)) throw error
    await saveAgain(ctx, subject, edit, save)
  }
}

async function saveAgain(
  ctx: Ctx,
  { project_id, iid }: MergeRequestSubject,
  edit: MergeRequestEdit,
  save: (saveEdit: SaveEdit) => Promise<unknown>,
): Promise<void> {
  const now = await loadMergeRequest({ id: String(project_id), merge_request_iid: iid }, ctx)
  if (!now) throw rowNotFound()
  try {
    await save(await prepareCurrent(ctx, now, edit))
  } catch (error) {
    // Not as `VersionReplaced`, upon which a caller would save again.
    throw error instanceof VersionReplaced ? conflict(error.message) : error
  }
}

/** The first step, which reads and brings commits. */
async function prepareCurrent(ctx: Ctx, subject: MergeRequestSubject, edit: MergeRequestEdit): Promise<SaveEdit> {
  if (edit.target_branch !== undefined && edit.target_branch !== subject.target_branch)
    await syncWithBranches(ctx, subject.id)
  return prepareEdit(ctx, subject, edit)
}
