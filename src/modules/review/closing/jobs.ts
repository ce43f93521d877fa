import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { closeByMergeRequest, updateClosingIssues } from './close.ts'

/** Stores which issues a merge request closes when it is merged. */
export const findClosingIssues = job({
  name: 'find_closing_issues',
  input: Type.Object({ mergeRequestId: Type.Integer() }),
  key: ({ mergeRequestId }) => `find_closing_issues:${mergeRequestId}`,
  attempts: 5,
  run: ({ mergeRequestId }, ctx) => updateClosingIssues(ctx, mergeRequestId),
})

/** Closes the issues that a merged merge request names. */
export const closeIssuesOfMerged = job({
  name: 'close_issues_of_merged',
  input: Type.Object({ mergeRequestId: Type.Integer(), userId: Type.Integer() }),
  key: ({ mergeRequestId }) => `close_issues_of_merged:${mergeRequestId}`,
  attempts: 10,
  run: ({ mergeRequestId, userId }, ctx) => closeByMergeRequest(ctx, mergeRequestId, userId),
})

/** Queues the search for issues that a merge request closes, if its description or its commits have changed. */
export const findClosingIssuesLater: Reaction<
  'merge_request_opened' | 'merge_request_reopened' | 'merge_request_updated'
> = async (tx, { kind, payload: { merge_request_id: mergeRequestId, changes, old_head_oid } }) => {
  const isChanged =
    kind !== 'merge_request_updated' || old_head_oid || changes?.['description'] || changes?.['target_branch']
  if (isChanged) await enqueue(tx, findClosingIssues, { mergeRequestId })
}

/** Queues the closing of issues after a merge, if it is known who merged. */
export const closeIssuesAfterMerge: Reaction<'merge_request_merged'> = async (
  tx,
  { actorId, payload: { merge_request_id: mergeRequestId } },
) => {
  if (actorId !== null) await enqueue(tx, closeIssuesOfMerged, { mergeRequestId, userId: actorId })
}
