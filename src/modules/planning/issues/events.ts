import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { AttributeChanges } from '../changes/attributes.ts'
import { titleOfIssue } from './event-queries.ts'

type IssueEvent = 'issue_opened' | 'issue_updated' | 'issue_closed' | 'issue_reopened' | 'issue_deleted'

export type IssueHappening = {
  readonly kind: IssueEvent
  readonly actorId: number | null
  readonly changes?: AttributeChanges
  /** Of a deleted issue. */
  readonly confidential?: boolean
}

/** Emits an event of an issue. The line of the activity feed shows the current title to those who may read the issue. */
export async function emitIssue(
  tx: Tx,
  id: number,
  { kind, actorId, changes, confidential }: IssueHappening,
): Promise<void> {
  const { project_id, iid, title } = await titleOfIssue(tx, id)
  await emit(tx, {
    kind,
    projectId: project_id,
    actorId,
    payload: { issue_id: id, iid, ...(changes && { changes }), ...(confidential !== undefined && { confidential }) },
    shown: { target: { type: 'Issue', id, iid, title } },
  })
}
