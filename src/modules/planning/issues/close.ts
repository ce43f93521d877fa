import type { Tx } from '../../../db/db.ts'
import { finishTodos } from '../../discussion/index.ts'
import { recordActivity } from '../../projects/index.ts'
import type { AttributeChanges } from '../changes/attributes.ts'
import { saveClosed } from './edit-queries.ts'
import { emitIssue } from './events.ts'
import { asNoteable } from './noteable.ts'
import { lockIssue, touchIssue } from './queries.ts'

/**
 * Closes an issue as this user and finishes their todos for it; the caller has locked the project, before any row of the issue,
 * has checked the permission, and writes the system note.
 * False if the issue is closed or deleted.
 * @param others Changes of the issue that the caller has written, which its event names, too.
 */
export async function closeIssue(tx: Tx, id: number, actorId: number, others: AttributeChanges = {}): Promise<boolean> {
  const row = await lockIssue(tx, id)
  if (row?.state !== 'opened') return false
  await saveClosed(tx, id, actorId, undefined)
  await finishTodos(tx, actorId, asNoteable(row))
  await touchIssue(tx, id)
  await recordActivity(tx, row.project_id)
  await emitIssue(tx, id, { kind: 'issue_closed', actorId, changes: { state: ['opened', 'closed'], ...others } })
  return true
}
