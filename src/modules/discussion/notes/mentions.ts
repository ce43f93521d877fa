import type { Tx } from '../../../db/db.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { addTodos } from '../todos/service.ts'
import { readersInGroups, readersNamed, replaceMentions } from './mention-queries.ts'
import { mentionedNames } from './references.ts'

export type MentioningText = {
  /** The note; the description if absent. */
  readonly noteId?: number
  readonly text: string
  readonly authorId: number
  /** Whether the text is new, so that no mentions of it are stored. */
  readonly isNew?: true
}

/**
 * Stores which users a description or note mentions with an `@`, by their names or by a group of which they are members, of those who
 * may read it, and adds a todo for newly mentioned users. Call it with each change of the text. At most four statements.
 */
export async function noteMentions(
  tx: Tx,
  noteable: Noteable,
  { noteId, text, authorId, isNew }: MentioningText,
): Promise<void> {
  const names = new Map(mentionedNames(text).map(({ name, addressed }) => [name, addressed]))
  if (isNew && names.size === 0) return
  const sought = [...names.keys()]
  const named =
    names.size > 0
      ? [...(await readersNamed(tx, noteable, sought)), ...(await readersInGroups(tx, noteable, authorId, sought))]
      : []
  // A user who is named as well as a member of a named group counts once, as named.
  const people = [...new Map(named.toReversed().map((person) => [person.id, person])).values()].toReversed()
  const ids = people.map(({ id }) => id)
  const added = new Set(await replaceMentions(tx, noteable, noteId ?? null, ids))
  await addTodos(
    tx,
    noteable,
    people
      .filter(({ id }) => added.has(id))
      .map(({ id: userId, name }) => ({
        userId,
        authorId,
        action: names.get(name) ? 'directly_addressed' : 'mentioned',
        ...(noteId !== undefined && { noteId }),
      })),
  )
}
