import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { noteActivity } from '../../pushes/index.ts'
import { newDiscussionId, requireText } from '../../repository/index.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { tellOfNote } from '../subscriptions/jobs.ts'
import { finishTodos } from '../todos/service.ts'
import { noteMentions } from './mentions.ts'
import { deleteNote, insertNote, type NewNote, updateNote } from './queries.ts'
import { findNote, type NoteRow } from './record-queries.ts'
import { mergeIfSettled } from './settled.ts'
import type { NoteSubject } from './subject.ts'

/** A merge request as notes name it. */
export type Noteable = { readonly id: number; readonly project_id: number }

/** Tells beside what people say what somebody did: `closed`, `changed title from **a** to **b**`. */
export async function addSystemNote(
  tx: Tx,
  { id, project_id }: Noteable,
  authorId: number,
  body: string,
): Promise<void> {
  await insertNote(tx, {
    projectId: project_id,
    mergeRequestId: id,
    authorId,
    discussionId: newDiscussionId(),
    system: true,
    body,
  })
}

/** Holds the merge request until the transaction ends, so that what is said about it is said one after the other. */
export async function holdMergeRequest(tx: Tx, { id }: Noteable): Promise<void> {
  if (!(await touchMergeRequest(tx, id))) throw rowNotFound()
}

/** What all events about notes tell. */
export const noteFacts = ({ id, iid }: MergeRequestSubject, noteId: number, discussionId: string) => ({
  note_id: noteId,
  noteable_type: 'MergeRequest',
  merge_request_id: id,
  merge_request_iid: iid,
  discussion_id: discussionId,
})

export type Said = Pick<NewNote, 'discussionId' | 'body' | 'threaded' | 'resolved' | 'position'> & {
  /** When it was said, if he may tell who says it. */
  readonly createdAt: Date | undefined
}

/** Writes down what the caller says, with what follows of it. The merge request is held. */
export async function saveNote(tx: Tx, ctx: Ctx, mergeRequest: MergeRequestSubject, said: Said): Promise<number> {
  const { id: mergeRequestId, project_id: projectId, iid, title } = mergeRequest
  const authorId = ctx.actor!.id
  const createdAt = allows(mergeRequestPolicy.date_note, ctx.actor, mergeRequest.facts) ? said.createdAt : undefined
  const { id } = await insertNote(tx, { projectId, mergeRequestId, authorId, ...said, createdAt })
  await finishTodos(tx, authorId, mergeRequestId)
  await noteMentions(tx, mergeRequest, { noteId: id, text: said.body, authorId })
  await noteActivity(tx, projectId)
  // What was said elsewhere long ago, and is brought here, is news to nobody.
  if (!createdAt) await enqueue(tx, tellOfNote, { noteId: id })
  await emit(tx, {
    kind: 'note_created',
    projectId,
    actorId: authorId,
    payload: noteFacts(mergeRequest, id, said.discussionId),
    shown: { target: { type: 'MergeRequest', id: mergeRequestId, iid, title } },
  })
  return id
}

/** Says something about a merge request, by itself. */
export async function createNote(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  { body, createdAt }: { body: string; createdAt: Date | undefined },
): Promise<NoteRow> {
  requireText(body)
  const id = await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    return saveNote(tx, ctx, mergeRequest, { discussionId: newDiscussionId(), body, createdAt })
  })
  return getNote(ctx, mergeRequest, id)
}

/** A note that was there a moment ago. */
export async function getNote(ctx: Ctx, { id }: Noteable, noteId: number): Promise<NoteRow> {
  const note = await findNote(ctx.db, id, noteId)
  if (!note) throw rowNotFound()
  return note
}

/** Says it otherwise. Who was not named before is told. */
export async function editNote(ctx: Ctx, { note, mergeRequest }: NoteSubject, body: string): Promise<NoteRow> {
  requireText(body)
  await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    if (!(await updateNote(tx, note.id, body))) throw rowNotFound()
    await noteMentions(tx, mergeRequest, { noteId: note.id, text: body, authorId: note.author.id })
    await emit(tx, {
      kind: 'note_updated',
      projectId: mergeRequest.project_id,
      actorId: ctx.actor!.id,
      payload: noteFacts(mergeRequest, note.id, note.discussion_id),
    })
  })
  return getNote(ctx, mergeRequest, note.id)
}

/** Takes it back. The last of a discussion takes that with it. */
export async function removeNote(ctx: Ctx, { note, mergeRequest }: NoteSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    await holdMergeRequest(tx, mergeRequest)
    if (!(await deleteNote(tx, note.id))) throw rowNotFound()
    if (note.threaded && note.resolved_at === null) await mergeIfSettled(tx, mergeRequest)
    await emit(tx, {
      kind: 'note_deleted',
      projectId: mergeRequest.project_id,
      actorId: ctx.actor!.id,
      payload: noteFacts(mergeRequest, note.id, note.discussion_id),
    })
  })
}
