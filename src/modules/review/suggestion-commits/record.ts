import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { resolveHeld, saveApplied } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { lockPermitted, touchMergeRequest } from '../merge-requests/queries.ts'
import { deleteCommit, type SuggestionCommit } from './queries.ts'

/**
 * Marks the suggestions of a commit as applied, once, and resolves their discussions if the user may: the commit is on the source
 * branch. Does nothing with suggestions that are applied already, or that were deleted with the text of their note.
 */
export function recordApplied(ctx: Ctx, commit: SuggestionCommit): Promise<void> {
  const { token, merge_request_id: id, commit_oid, suggestion_ids, user_id: actorId, resolves } = commit
  return ctx.transaction(async (tx) => {
    const mergeRequest = await lockPermitted(tx, id)
    if (!mergeRequest) throw rowNotFound()
    await deleteCommit(tx, token)
    const applied = await saveApplied(tx, suggestion_ids, commit_oid)
    if (applied.length === 0) return
    await touchMergeRequest(tx, id)
    const { iid, project_id: projectId } = mergeRequest
    for (const { id: suggestion_id, note_id } of applied)
      await emit(tx, {
        kind: 'suggestion_applied',
        projectId,
        actorId,
        payload: { merge_request_id: id, iid, suggestion_id, note_id, commit: commit_oid },
      })
    if (!resolves || actorId === null) return
    for (const discussionId of new Set(applied.map(({ discussion_id }) => discussion_id)))
      await resolveHeld(tx, { ...asNoteable(mergeRequest), iid }, { discussionId }, actorId)
  })
}
