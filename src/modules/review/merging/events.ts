import type { Tx } from '../../../db/db.ts'
import { tellMergeRequest } from '../merge-requests/events.ts'
import { addSystemNote, type Noteable } from '../notes/service.ts'
import { finishTodos } from '../todos/service.ts'

const notes = { merge_request_merged: 'merged', merge_request_closed: 'closed' } as const

/**
 * Tells how a merge request ended: to the log, to people, and beside what they said, in the name of its author where it is not
 * known who did it. Whoever did has nothing more to do about it.
 */
export async function tellEnd(
  tx: Tx,
  row: Noteable & { readonly author_id: number },
  kind: keyof typeof notes,
  actorId: number | null,
): Promise<void> {
  await tellMergeRequest(tx, row.id, { kind, actorId })
  await addSystemNote(tx, row, actorId ?? row.author_id, notes[kind])
  if (actorId !== null) await finishTodos(tx, actorId, row.id)
}
