import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Oid } from '../../../git/format/oid.ts'
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

/** What changed of attributes, as records name them: before and now. */
export type AttributeChanges = Readonly<Record<string, readonly [before: unknown, now: unknown]>>

export type MergeRequestHappening = {
  readonly kind: MergeRequestEvent
  readonly actorId: number | null
  readonly changes?: AttributeChanges
  /** Where the source branch was before it moved. */
  readonly oldHead?: Oid
}

/** Emits what happened to a merge request. The activity line has its present title. */
export async function tellMergeRequest(
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
