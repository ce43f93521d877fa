import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueAllWhere, enqueuedWhere, job } from '../../../jobs/job.ts'
import { isNoteableType, type NumberedType, numberedTypes } from '../noteables/kinds.ts'
import { mayName } from '../notes/references.ts'
import { descriptionMayName, findDescription, findNoteText, noteMayName } from './queries.ts'
import { addCrossReferences, type Mentioning, sourceOf } from './service.ts'

type Changes = Readonly<Record<string, unknown>> | undefined

const changesText = (changes: Changes): boolean => Boolean(changes?.['title'] || changes?.['description'])

/** What reads the texts of users: titles with descriptions, and notes. */
type Reading = {
  /** The beginning of the names of its jobs. */
  readonly name: string
  /** Matches texts that it reads, as a regular expression of PostgreSQL: texts without a match queue no job. */
  readonly mayName: string
  /** Called for a text and its author, or the user who changed a description. May be repeated. */
  read(ctx: Ctx, text: Mentioning): Promise<void>
}

/** A reader of texts with its jobs. */
export const textReader = ({ name, mayName, read }: Reading) => ({
  mayName,
  ofDescription: job({
    name: `${name}_by_description`,
    input: Type.Object({
      noteableType: Type.Enum([...numberedTypes]),
      noteableId: Type.Integer(),
      userId: Type.Integer(),
    }),
    key: ({ noteableType, noteableId, userId }) => `${name}_by_description:${noteableType}:${noteableId}:${userId}`,
    attempts: 5,
    async run({ noteableType, noteableId, userId }, ctx) {
      const found = await findDescription(ctx.db, noteableType, noteableId)
      if (found) await read(ctx, { ...sourceOf(found), text: found.text, authorId: userId })
    },
  }),
  ofNote: job({
    name: `${name}_by_note`,
    input: Type.Object({ noteId: Type.Integer() }),
    key: ({ noteId }) => `${name}_by_note:${noteId}`,
    attempts: 5,
    async run({ noteId }, ctx) {
      const found = await findNoteText(ctx.db, noteId)
      if (found) await read(ctx, { ...sourceOf(found), text: found.text, authorId: found.author_id })
    },
  }),
})

/** Adds notes to the noteables that texts mention by number. */
export const noteablesInTexts = textReader({ name: 'refer_to_named', mayName, read: addCrossReferences })

/** The reactions that queue the jobs of these readers for new texts that they may read. One statement for each text. */
export function textReactions(readers: readonly ReturnType<typeof textReader>[]) {
  const searchDescription = async (
    tx: Tx,
    noteableType: NumberedType,
    noteableId: number,
    userId: number | null,
  ): Promise<void> => {
    if (userId === null) return
    const input = { noteableType, noteableId, userId }
    await enqueueAllWhere(
      tx,
      readers.map(({ ofDescription, mayName }) =>
        enqueuedWhere(tx, ofDescription, input, descriptionMayName(noteableType, noteableId, mayName)),
      ),
    )
  }

  const byMergeRequest: Reaction<'merge_request_opened' | 'merge_request_updated'> = async (
    tx,
    { kind, actorId, payload: { merge_request_id: id, changes } },
  ) => {
    if (kind === 'merge_request_opened' || changesText(changes))
      await searchDescription(tx, 'MergeRequest', id, actorId)
  }

  const byIssue: Reaction<'issue_opened' | 'issue_updated'> = async (
    tx,
    { kind, actorId, payload: { issue_id: id, changes } },
  ) => {
    if (kind === 'issue_opened' || changesText(changes)) await searchDescription(tx, 'Issue', id, actorId)
  }

  const byEpic: Reaction<'epic_opened' | 'epic_updated'> = async (
    tx,
    { kind, actorId, payload: { epic_id: id, changes } },
  ) => {
    if (kind === 'epic_opened' || changesText(changes)) await searchDescription(tx, 'Epic', id, actorId)
  }

  const bySnippet: Reaction<'snippet_created' | 'snippet_updated'> = async (
    tx,
    { kind, projectId, actorId, payload: { snippet_id: id, changed = [] } },
  ) => {
    const isNew = kind === 'snippet_created' || changed.includes('title') || changed.includes('description')
    if (projectId !== undefined && isNew) await searchDescription(tx, 'Snippet', id, actorId)
  }

  const byNote: Reaction<'note_created' | 'note_updated'> = async (
    tx,
    { payload: { note_id: noteId, noteable_type } },
  ) => {
    if (isNoteableType(noteable_type))
      await enqueueAllWhere(
        tx,
        readers.map(({ ofNote, mayName }) => enqueuedWhere(tx, ofNote, { noteId }, noteMayName(noteId, mayName))),
      )
  }

  return { byMergeRequest, byIssue, byEpic, bySnippet, byNote }
}
