import type { Tx } from '../../../db/db.ts'
import { addSystemNote, finishTodos, insertCrossReference, type ReferenceSource } from '../../discussion/index.ts'
import { recordActivity } from '../../projects/index.ts'
import { saveClosed } from './close-queries.ts'
import { emitIssue } from './events.ts'
import { asNoteable } from './noteable.ts'

/** A merge request or commit that closes an issue, and the text of the system note that says so. */
export type ClosedVia = { readonly source: ReferenceSource; readonly body: string }

/**
 * Closes an issue for a user, with its system note, and marks the user's todos for it as done. The caller has checked that the user
 * may do so. False, without any effect, if it is closed already or deleted.
 */
export async function closeIssue(
  tx: Tx,
  issue: { readonly id: number; readonly project_id: number },
  actorId: number,
  via?: ClosedVia,
): Promise<boolean> {
  if (!(await saveClosed(tx, issue.id, actorId))) return false
  const noteable = asNoteable(issue)
  if (via) await insertCrossReference(tx, noteable, { authorId: actorId, closes: true, ...via })
  else await addSystemNote(tx, noteable, actorId, 'closed')
  await finishTodos(tx, actorId, noteable)
  await recordActivity(tx, issue.project_id)
  await emitIssue(tx, issue.id, { kind: 'issue_closed', actorId, changes: { state: ['opened', 'closed'] } })
  return true
}
