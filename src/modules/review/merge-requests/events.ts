import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { AttributeChanges } from '../../planning/index.ts'
import { readTitle } from './event-queries.ts'

export type MergeRequestEvent =
  | 'merge_request_opened'
  | 'merge_request_updated'
  | 'merge_request_closed'
  | 'merge_request_reopened'
  | 'merge_request_merged'
  | 'merge_request_deleted'
  | 'merge_request_approved'
  | 'merge_request_unapproved'

export type MergeRequestHappening = {
  readonly kind: MergeRequestEvent
  readonly actorId: number | null
  readonly changes?: AttributeChanges
  /** Previous head of the source branch. */
  readonly oldHead?: Oid
}

/** Emits an event of a merge request. The line of the activity feed shows the current title. */
export async function emitMergeRequest(
  tx: Tx,
  id: number,
  { kind, actorId, changes, oldHead }: MergeRequestHappening,
): Promise<void> {
  const { project_id, iid, title } = await readTitle(tx, id)
  await emit(tx, {
    kind,
    projectId: project_id,
    actorId,
    payload: {
      merge_request_id: id,
      iid,
      ...(changes && { changes }),
      ...(oldHead && { old_head_oid: oldHead }),
    },
    shown: { target: { type: 'MergeRequest', id, iid, title } },
  })
}
