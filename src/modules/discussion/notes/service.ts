import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { placeOf } from '../../groups/index.ts'
import { recordActivity } from '../../projects/index.ts'
import { noteableFacts } from '../noteables/facts.ts'
import { kindOf } from '../noteables/kinds.ts'
import type { Discussed, Noteable } from '../noteables/noteable.ts'
import { type Applied, saveWithActions } from '../quick-actions/apply.ts'
import { parseQuickActions } from '../quick-actions/parse.ts'
import { mailNoteJob } from '../subscriptions/jobs.ts'
import { insertSuggestions, type NewSuggestion } from '../suggestions/queries.ts'
import { replaceSuggestions, suggestionsAt } from '../suggestions/service.ts'
import { finishTodos } from '../todos/service.ts'
import { newDiscussionId } from './discussion-id.ts'
import { noteMentions } from './mentions.ts'
import { deleteNote, insertNote, isTooLong, type NewNote, updateNote } from './queries.ts'
import { findNote, type NoteRow } from './record-queries.ts'
import type { NoteSubject } from './subject.ts'
import { refuseNote, requireLength, requireText } from './text.ts'

/** Adds a note that says what a user did: `closed`, `changed title from **a** to **b**`. */
export async function addSystemNote(
  tx: Tx,
  noteable: Noteable,
  authorId: number,
  body: string,
  createdAt?: Date,
): Promise<void> {
  await insertNote(tx, noteable, { authorId, discussionId: newDiscussionId(), system: true, body, createdAt })
}

/**
 * Locks the noteable until the transaction ends, so that notes are written one after the other. Throws if it is gone, or the caller has lost
 * the permission meanwhile.
 */
export async function holdNoteable(tx: Tx, discussed: Discussed): Promise<void> {
  if (!(await discussed.touch(tx))) throw rowNotFound()
  await tx.requirePermission?.()
}

/** As `holdNoteable`, before a new note: the first note makes the row of some kinds. Resolves to the noteable with its id. */
async function beginNote(tx: Tx, ctx: Ctx, discussed: Discussed): Promise<Discussed> {
  if (discussed.begin === undefined) {
    await holdNoteable(tx, discussed)
    return discussed
  }
  const id = await discussed.begin(tx, ctx)
  if (id === undefined) throw rowNotFound()
  await tx.requirePermission?.()
  return { ...discussed, id, iid: id }
}

/** The payload of all events about notes. */
const noteFacts = (discussed: Discussed, noteId: number, discussionId: string) => ({
  note_id: noteId,
  ...(discussed.oid === undefined
    ? noteableFacts(discussed)
    : { noteable_type: discussed.type, commit_id: discussed.oid }),
  discussion_id: discussionId,
})

/** What the line of activity about a new note shows: the noteable, or the note itself if the noteable has no number. */
const shownOf = ({ type, id, iid, oid, title }: Discussed, noteId: number) =>
  oid === undefined
    ? { target: { type, id, title, ...(kindOf(type).number === 'iid' && { iid }) }, noteId }
    : { target: { type: 'Note', id: noteId, title }, noteId, code: true }

export type NoteInput = Pick<NewNote, 'discussionId' | 'body' | 'threaded' | 'resolved' | 'place'> & {
  /** Ignored unless the caller may set it. */
  readonly createdAt: Date | undefined
  /** Those of its text. */
  readonly suggestions?: readonly NewSuggestion[]
}

/** Throws if the notes of a discussion, of which one has been added or has grown, are too long for its record. */
export async function requireRoom(tx: Tx, noteable: Noteable, discussionId: string): Promise<void> {
  if (await isTooLong(tx, noteable, discussionId)) throw refuseNote('discussion', 'is too long; begin another one')
}

/** The time of a new note, if the caller may set it when the note is written. */
async function allowedTime(
  tx: Tx,
  ctx: Ctx,
  { factsNow, policy }: Discussed,
  createdAt: Date | undefined,
): Promise<Date | undefined> {
  if (!createdAt) return undefined
  const facts = await factsNow({ ...ctx, db: tx })
  return facts && allows(policy.date_note, ctx.actor, facts) ? createdAt : undefined
}

/** Writes a note of the caller and its consequences. The noteable is locked. */
export async function saveNote(tx: Tx, ctx: Ctx, discussed: Discussed, input: NoteInput): Promise<number> {
  const { holder } = discussed
  const authorId = ctx.actor!.id
  const createdAt = await allowedTime(tx, ctx, discussed, input.createdAt)
  const { id } = await insertNote(tx, discussed, { authorId, ...input, createdAt })
  if (input.suggestions?.length) await insertSuggestions(tx, id, input.suggestions)
  await finishTodos(tx, authorId, discussed)
  await noteMentions(tx, discussed, { noteId: id, text: input.body, authorId, isNew: true })
  if (holder.of === 'project') await recordActivity(tx, holder.id)
  // A note with a time of its own comes from another system: there is nothing new to mail.
  if (!createdAt) await enqueue(tx, mailNoteJob, { noteId: id })
  await emit(tx, {
    kind: 'note_created',
    ...placeOf(holder),
    actorId: authorId,
    payload: noteFacts(discussed, id, input.discussionId),
    shown: shownOf(discussed, id),
  })
  return id
}

/** Writes a note of the caller that begins a discussion or stays single. Resolves to its id and the noteable, which has a row now. */
export const addNote = (
  ctx: Ctx,
  discussed: Discussed,
  input: NoteInput,
): Promise<{ readonly id: number; readonly discussed: Discussed }> =>
  ctx.transaction(async (tx) => {
    const begun = await beginNote(tx, ctx, discussed)
    return { id: await saveNote(tx, ctx, begun, input), discussed: begun }
  })

/** A text of a request that creates a note. */
export type NewText = { readonly body: string; readonly createdAt: Date | undefined }

/**
 * Comments on a noteable, outside of its discussions. Resolves to what quick actions did instead of a note if the text has nothing but
 * quick actions.
 */
export async function createNote(
  ctx: Ctx,
  discussed: Discussed,
  { body, createdAt }: NewText,
): Promise<NoteRow | Applied> {
  return withQuickActions(ctx, discussed, body, async (text) => async (within) => {
    const added = await addNote(within, discussed, { discussionId: newDiscussionId(), body: text, createdAt })
    return getNote(within, added.discussed, added.id)
  })
}

/** Reads what a note with this text needs from outside the database. Resolves to what saves the note. */
export type PrepareNote<Saved> = (text: string) => Promise<(within: Ctx) => Promise<Saved>>

/** Saves the text without its quick actions, if there is any, and applies these. The note then says what they did. */
export async function withQuickActions<Saved extends object>(
  ctx: Ctx,
  { quickActions }: Discussed,
  body: string,
  prepare: PrepareNote<Saved>,
): Promise<(Saved & { readonly applied?: Applied }) | Applied> {
  requireText(body)
  const { text, actions } = quickActions ? parseQuickActions(body, quickActions.known) : { text: body, actions: [] }
  // Pictures are longer than the actions that stand for them.
  requireLength(text)
  const save = text.trim() === '' && actions.length > 0 ? undefined : await prepare(text)
  if (!quickActions || actions.length === 0) return save!(ctx)
  const { saved, applied } = await saveWithActions(
    ctx,
    actions,
    quickActions,
    async (within) => save?.(within),
    async () => quickActions,
  )
  return saved ? { ...saved, applied } : applied
}

export const isApplied = (result: object): result is Applied => 'summary' in result

/** Loads a note that existed a moment ago; throws if it is deleted. */
export async function getNote(ctx: Ctx, noteable: Noteable, noteId: number): Promise<NoteRow> {
  const note = await findNote(ctx.db, noteable, ctx.actor, noteId)
  if (!note) throw rowNotFound()
  return note
}

/** Changes the text and its suggestions. Users who were not mentioned before get a todo. A text as it is leaves no trace. */
export async function editNote(ctx: Ctx, { note, discussed }: NoteSubject, body: string): Promise<NoteRow> {
  requireText(body)
  const suggestions = await suggestionsAt(ctx, discussed, note.position, body)
  await ctx.transaction(async (tx) => {
    // Before the lock, which changes when the noteable was changed last.
    if ((await findNote(tx, discussed, ctx.actor, note.id))?.body === body) return tx.requirePermission?.()
    await holdNoteable(tx, discussed)
    const grew = await updateNote(tx, note.id, body)
    if (grew === undefined) throw rowNotFound()
    if (grew) await requireRoom(tx, discussed, note.discussion_id)
    if (note.position) await replaceSuggestions(tx, note.id, suggestions)
    await noteMentions(tx, discussed, { noteId: note.id, text: body, authorId: note.author.id })
    await emit(tx, {
      kind: 'note_updated',
      ...placeOf(discussed.holder),
      actorId: ctx.actor!.id,
      payload: noteFacts(discussed, note.id, note.discussion_id),
    })
  })
  return getNote(ctx, discussed, note.id)
}

/** Deletes a note; deleting the last note of a discussion deletes the discussion. */
export async function removeNote(ctx: Ctx, { note, discussed }: NoteSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    await holdNoteable(tx, discussed)
    if (!(await deleteNote(tx, note.id))) throw rowNotFound()
    await emit(tx, {
      kind: 'note_deleted',
      ...placeOf(discussed.holder),
      actorId: ctx.actor!.id,
      payload: noteFacts(discussed, note.id, note.discussion_id),
    })
  })
}
