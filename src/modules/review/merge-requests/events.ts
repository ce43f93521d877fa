import type { Tx } from '../../../db/db.ts'
import { emit, type FeedAction } from '../../../events/log.ts'
import type { Oid } from '../../../git/oid.ts'
import { readFacts } from './event-queries.ts'
import { isWorkInProgress } from './title.ts'

export type MergeRequestEvent =
  | 'merge_request_opened'
  | 'merge_request_updated'
  | 'merge_request_closed'
  | 'merge_request_reopened'
  | 'merge_request_merged'
  | 'merge_request_deleted'
  | 'merge_request_approved'
  | 'merge_request_unapproved'

const shown: Partial<Record<MergeRequestEvent, FeedAction>> = {
  merge_request_opened: 'created',
  merge_request_closed: 'closed',
  merge_request_reopened: 'reopened',
  merge_request_merged: 'merged',
}

/** What changed of attributes, as records name them: before and now. */
export type AttributeChanges = Readonly<Record<string, readonly [before: unknown, now: unknown]>>

export type MergeRequestHappening = {
  readonly kind: MergeRequestEvent
  readonly actorId: number | null
  readonly changes?: AttributeChanges
  /** Where the source branch was before it moved. */
  readonly oldHead?: Oid
}

/** Tells what happened to a merge request, as it is now; what changes its state is shown in feeds, too. Two statements. */
export async function tellMergeRequest(
  tx: Tx,
  id: number,
  { kind, actorId, changes, oldHead }: MergeRequestHappening,
): Promise<void> {
  const { id: merge_request_id, ...facts } = await readFacts(tx, id)
  const action = shown[kind]
  const { iid, title } = facts
  await emit(tx, {
    kind,
    projectId: facts.target_project_id,
    actorId,
    payload: {
      merge_request_id,
      ...facts,
      work_in_progress: isWorkInProgress(title),
      ...(changes && { changes }),
      ...(oldHead && { old_head_oid: oldHead }),
    },
    ...(action && { feed: [{ action, target: { type: 'MergeRequest', id, iid, title } }] }),
  })
}
