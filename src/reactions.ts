import { updateMergeRequestsAfterPush } from './areas/merging/after-push.ts'
import { mergeWhenPipelineSucceeds } from './areas/merging/auto-merge-due.ts'
import { closeUnlinkedMergeRequests } from './areas/merging/unlinked.ts'
import type { Reactions } from './events/reaction.ts'

/**
 * What follows from each event, in its transaction. The only file that knows both sides: whoever emits an event does not know
 * what follows from it.
 */
export const reactions: Reactions = {
  fork_unlinked: [closeUnlinkedMergeRequests],
  pipeline_changed: [mergeWhenPipelineSucceeds],
  pushed: [updateMergeRequestsAfterPush],
}
