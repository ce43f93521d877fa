import type { Tx } from '../../../db/db.ts'
import { addSystemNote, addTodos, type NewTodo, type Noteable, noteMentions } from '../../discussion/index.ts'
import { recordActivity } from '../../projects/index.ts'
import type { AttributeChanges } from './attributes.ts'

/** How the name of an event says what happened: `issue_closed`. */
export type EditVerb = 'closed' | 'reopened' | 'updated'

export type Edited = {
  readonly noteable: Noteable
  readonly actorId: number
  /** After the edit. */
  readonly now: { readonly description: string | null; readonly state: string }
  /** At least one. */
  readonly changes: AttributeChanges
  /** Texts of the system notes, in their order. */
  readonly notes: readonly string[]
  /** Time of these notes; now if it is not given. */
  readonly at?: Date | undefined
  /** For users who were assigned, or asked for a review. */
  readonly todos?: readonly NewTodo[]
  readonly emit: (verb: EditVerb, changes: AttributeChanges) => Promise<void>
}

/** Writes what follows from an edit that changed a noteable: activity, system notes, todos, mentions, events. */
export async function recordEdit(
  tx: Tx,
  { noteable, actorId, now, changes, notes, at, todos = [], emit }: Edited,
): Promise<void> {
  if (noteable.holder.of === 'project') await recordActivity(tx, noteable.holder.id)
  for (const note of notes) await addSystemNote(tx, noteable, actorId, note, at)
  // Before mentions: a user who is both has the todo of an assignee or reviewer.
  await addTodos(tx, noteable, todos)
  if (changes['description']) await noteMentions(tx, noteable, { text: now.description ?? '', authorId: actorId })
  // A change of state and other changes are two events.
  const { state, ...others } = changes
  if (state) await emit(now.state === 'closed' ? 'closed' : 'reopened', { state })
  if (Object.keys(others).length > 0) await emit('updated', others)
}
