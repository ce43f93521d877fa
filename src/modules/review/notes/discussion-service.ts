import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import { newDiscussionId, requireText } from '../../repository/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { placeOf, type WantedPlace } from './place.ts'
import { findRoot, makeThread, resolveNotes, unresolveNotes } from './queries.ts'
import { type DiscussionRow, findDiscussion, type NoteRow } from './record-queries.ts'
import { addSystemNote, editNote, getNote, holdMergeRequest, saveNote } from './service.ts'
import { mergeIfSettled } from './settled.ts'
import type { NoteSubject } from './subject.ts'

type NewText = { readonly body: string; readonly createdAt: Date | undefined }

export async function getDiscussion(
  ctx: Ctx,
  { id }: MergeRequestSubject,
  discussionId: string,
): Promise<DiscussionRow> {
  const found = await findDiscussion(ctx.db, id, discussionId)
  if (!found) throw notFound('Discussion')
  return found
}

/** Begins a discussion of a merge request, or of a place in its diff. */
export async function beginDiscussion(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  { body, createdAt, wanted }: NewText & { wanted: WantedPlace | undefined },
): Promise<DiscussionRow> {
  requireText(body)
  const position = wanted ? await placeOf(ctx, mergeRequest, wanted) : null
  const discussionId = newDiscussionId()
  await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    await saveNote(tx, ctx, mergeRequest, { discussionId, body, threaded: true, position, createdAt })
  })
  return getDiscussion(ctx, mergeRequest, discussionId)
}

/**
 * Answers, about what the discussion is about. A note by itself becomes a discussion with that; one that is resolved stays so.
 * What was written by nobody is not answered.
 */
export async function answer(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  { discussionId, body, createdAt }: NewText & { discussionId: string },
): Promise<NoteRow> {
  const id = await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    const root = await findRoot(tx, mergeRequest.id, discussionId)
    if (!root) throw notFound('Discussion')
    if (root.system) throw invalid('Discussion is an individual note.')
    requireText(body)
    if (!root.threaded) await makeThread(tx, mergeRequest.id, discussionId)
    const { position, resolved } = root
    return saveNote(tx, ctx, mergeRequest, { discussionId, body, threaded: true, position, resolved, createdAt })
  })
  return getNote(ctx, mergeRequest, id)
}

/** Settles a discussion, or one note of it, or opens it again. When it was the last one that was open, a note tells so. */
async function settle(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  which: { readonly discussionId: string; readonly noteId?: number },
  resolved: boolean,
): Promise<void> {
  const { id: mergeRequestId, iid, project_id: projectId } = mergeRequest
  const userId = ctx.actor!.id
  await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    const those = { mergeRequestId, ...which }
    const changed = resolved ? await resolveNotes(tx, those, userId) : await unresolveNotes(tx, those)
    if (changed === 0) return
    if (resolved && (await mergeIfSettled(tx, mergeRequest)))
      await addSystemNote(tx, mergeRequest, userId, 'resolved all threads')
    await emit(tx, {
      kind: resolved ? 'discussion_resolved' : 'discussion_unresolved',
      projectId,
      actorId: userId,
      payload: {
        noteable_type: 'MergeRequest',
        merge_request_id: mergeRequestId,
        merge_request_iid: iid,
        discussion_id: which.discussionId,
        note_id: which.noteId ?? null,
      },
    })
  })
}

const notResolvable = () => invalid('Discussion cannot be resolved.')

export async function settleDiscussion(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  discussionId: string,
  resolved: boolean,
): Promise<DiscussionRow> {
  const { notes } = await getDiscussion(ctx, mergeRequest, discussionId)
  if (!notes[0]!.threaded) throw notResolvable()
  await settle(ctx, mergeRequest, { discussionId }, resolved)
  return getDiscussion(ctx, mergeRequest, discussionId)
}

/** Says it otherwise, or settles it: who may do the one may not always do the other. */
export async function changeNote(
  ctx: Ctx,
  subject: NoteSubject,
  { body, resolved }: { body?: string; resolved?: boolean },
): Promise<NoteRow> {
  const { note, mergeRequest, facts } = subject
  const may = (ability: 'admin_note' | 'resolve_discussion') => allows(mergeRequestPolicy[ability], ctx.actor, facts)
  if (body !== undefined) {
    if (!may('admin_note')) throw forbidden()
    return editNote(ctx, subject, body)
  }
  if (!may('resolve_discussion')) throw forbidden()
  if (!note.threaded) throw notResolvable()
  await settle(ctx, mergeRequest, { discussionId: note.discussion_id, noteId: note.id }, resolved === true)
  return getNote(ctx, mergeRequest, note.id)
}
