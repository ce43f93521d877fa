import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { AttributeChanges } from '../changes/attributes.ts'
import { titleOfEpic } from './edit-queries.ts'

type EpicEvent = 'epic_opened' | 'epic_updated' | 'epic_closed' | 'epic_reopened' | 'epic_deleted'

export type EpicHappening = {
  readonly kind: EpicEvent
  readonly actorId: number | null
  readonly changes?: AttributeChanges
  /** Of a deleted epic: who could read it may read that it is gone. */
  readonly confidential?: boolean
}

/** Emits an event of an epic. The line of the activity feed shows the current title to those who may read the epic. */
export async function emitEpic(
  tx: Tx,
  id: number,
  { kind, actorId, changes, confidential }: EpicHappening,
): Promise<void> {
  const { group_id, iid, title } = await titleOfEpic(tx, id)
  await emit(tx, {
    kind,
    groupId: group_id,
    actorId,
    payload: { epic_id: id, iid, ...(changes && { changes }), ...(confidential !== undefined && { confidential }) },
    shown: { target: { type: 'Epic', id, iid, title } },
  })
}
