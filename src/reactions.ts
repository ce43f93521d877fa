import type { Reactions } from './events/reaction.ts'
import {
  closeUnlinkedMergeRequests,
  mergeWhenPipelineSucceeds,
  updateMergeRequestsAfterPush,
} from './modules/review/index.ts'

/**
 * What follows from each event, in its transaction. The only file that knows both sides: whoever emits an event does not know
 * what follows from it.
 */
export const reactions: Reactions = {
  fork_unlinked: [closeUnlinkedMergeRequests],
  pipeline_changed: [mergeWhenPipelineSucceeds],
  pushed: [updateMergeRequestsAfterPush],
}
