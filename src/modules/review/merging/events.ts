import type { Tx } from '../../../db/db.ts'
import { addSystemNote, finishTodos } from '../../discussion/index.ts'
import { emitMergeRequest } from '../merge-requests/events.ts'
import { asNoteable } from '../merge-requests/noteable.ts'

/** The new state of the merge request, which is also the text of the note. */
const states = { merge_request_merged: 'merged', merge_request_closed: 'closed' } as const

/**
 * Emits that a merge request was merged or closed and adds a system note, by its author if the actor is unknown. Marks the actor's
 * todos for it as done.
 */
export async function emitEnd(
  tx: Tx,
  row: { readonly id: number; readonly project_id: number; readonly author_id: number },
  kind: keyof typeof states,
  actorId: number | null,
): Promise<void> {
  const noteable = asNoteable(row)
  // The state `locked`, in which it is while it is merged, is no change for others.
  await emitMergeRequest(tx, row.id, { kind, actorId, changes: { state: ['opened', states[kind]] } })
  await addSystemNote(tx, noteable, actorId ?? row.author_id, states[kind])
  if (actorId !== null) await finishTodos(tx, actorId, noteable)
}
