import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueWhere, job } from '../../../jobs/job.ts'
import { isNoteableType, kindOf, type NoteableType, noteableTypes } from '../noteables/kinds.ts'
import { descriptionMayName, findDescription, findNoteText, noteMayName, type TextSource } from './queries.ts'
import { addCrossReferences } from './service.ts'

const ofText = (ctx: Ctx, found: TextSource, authorId: number): Promise<void> => {
  const { noun, sign } = kindOf(found.type)
  const holder = { of: kindOf(found.type).holder.of, id: found.holder_id }
  return addCrossReferences(ctx, {
    text: found.text,
    authorId,
    place: { ...holder, full_path: found.full_path },
    source: { noteable: { type: found.type, id: found.id, holder } },
    nameWithin: (path) => `${noun} ${path}${sign}${found.iid}`,
  })
}

/** Adds notes to the noteables that title and description of another mention. */
export const referToNamedByDescription = job({
  name: 'refer_to_named_by_description',
  input: Type.Object({
    noteableType: Type.Enum([...noteableTypes]),
    noteableId: Type.Integer(),
    userId: Type.Integer(),
  }),
  key: ({ noteableType, noteableId, userId }) =>
    `refer_to_named_by_description:${noteableType}:${noteableId}:${userId}`,
  attempts: 5,
  async run({ noteableType, noteableId, userId }, ctx) {
    const found = await findDescription(ctx.db, noteableType, noteableId)
    if (found) await ofText(ctx, found, userId)
  },
})

/** Adds notes to the noteables that a note mentions. */
export const referToNamedByNote = job({
  name: 'refer_to_named_by_note',
  input: Type.Object({ noteId: Type.Integer() }),
  key: ({ noteId }) => `refer_to_named_by_note:${noteId}`,
  attempts: 5,
  async run({ noteId }, ctx) {
    const found = await findNoteText(ctx.db, noteId)
    if (found) await ofText(ctx, found, found.author_id)
  },
})

type Changes = Readonly<Record<string, unknown>> | undefined

/** Queues the search for mentions if title or description are new and may have some. */
const searchDescription = async (
  tx: Tx,
  noteableType: NoteableType,
  noteableId: number,
  userId: number | null,
): Promise<void> => {
  if (userId === null) return
  const input = { noteableType, noteableId, userId }
  await enqueueWhere(tx, referToNamedByDescription, input, descriptionMayName(noteableType, noteableId))
}

const changesText = (changes: Changes): boolean => Boolean(changes?.['title'] || changes?.['description'])

export const findNamedByMergeRequest: Reaction<'merge_request_opened' | 'merge_request_updated'> = async (
  tx,
  { kind, actorId, payload: { merge_request_id: id, changes } },
) => {
  if (kind === 'merge_request_opened' || changesText(changes)) await searchDescription(tx, 'MergeRequest', id, actorId)
}

export const findNamedByIssue: Reaction<'issue_opened' | 'issue_updated'> = async (
  tx,
  { kind, actorId, payload: { issue_id: id, changes } },
) => {
  if (kind === 'issue_opened' || changesText(changes)) await searchDescription(tx, 'Issue', id, actorId)
}

export const findNamedByEpic: Reaction<'epic_opened' | 'epic_updated'> = async (
  tx,
  { kind, actorId, payload: { epic_id: id, changes } },
) => {
  if (kind === 'epic_opened' || changesText(changes)) await searchDescription(tx, 'Epic', id, actorId)
}

export const findNamedBySnippet: Reaction<'snippet_created' | 'snippet_updated'> = async (
  tx,
  { kind, projectId, actorId, payload: { snippet_id: id, changed = [] } },
) => {
  const isNew = kind === 'snippet_created' || changed.includes('title') || changed.includes('description')
  if (projectId !== undefined && isNew) await searchDescription(tx, 'Snippet', id, actorId)
}

export const findNamedByNote: Reaction<'note_created' | 'note_updated'> = async (
  tx,
  { payload: { note_id: noteId, noteable_type } },
) => {
  if (isNoteableType(noteable_type)) await enqueueWhere(tx, referToNamedByNote, { noteId }, noteMayName(noteId))
}
