import type { Tx } from '../../../db/db.ts'
import { addTodos } from '../todos/service.ts'
import { mentionedNames } from './mention-names.ts'
import { readersNamed, replaceMentions } from './mention-queries.ts'

export type MentioningText = {
  /** Of a description without. */
  readonly noteId?: number
  readonly text: string
  readonly authorId: number
}

/**
 * Writes down who of those who may read it is named with an `@` in a description or note, and puts it on the list of those who
 * were not named there before. To be called with each change of the text. At most three statements.
 */
export async function noteMentions(
  tx: Tx,
  mergeRequest: { readonly id: number; readonly project_id: number },
  { noteId, text, authorId }: MentioningText,
): Promise<void> {
  const { id: mergeRequestId, project_id: projectId } = mergeRequest
  const names = new Map(mentionedNames(text).map(({ name, addressed }) => [name, addressed]))
  const people = names.size > 0 ? await readersNamed(tx, projectId, [...names.keys()]) : []
  const ids = people.map(({ id }) => id)
  const told = new Set(await replaceMentions(tx, mergeRequestId, noteId ?? null, ids))
  await addTodos(
    tx,
    people
      .filter(({ id }) => told.has(id))
      .map(({ id: userId, name }) => ({
        userId,
        authorId,
        projectId,
        mergeRequestId,
        action: names.get(name) ? 'directly_addressed' : 'mentioned',
        ...(noteId !== undefined && { noteId }),
      })),
  )
}
