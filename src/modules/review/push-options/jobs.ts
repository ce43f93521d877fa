import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { findDonePush, parsePushOptions } from '../../pushes/index.ts'
import { applyOptions } from './apply.ts'

/**
 * Applies the merge request options of a push. Removed from the queue when the process that received the push has applied them
 * (`answer.ts`), so it runs only if that process ended before, or met a fault.
 */
export const applyPushOptions = job({
  name: 'apply_push_options',
  input: Type.Object({ pushId: Type.Integer() }),
  key: ({ pushId }) => `apply_push_options:${pushId}`,
  attempts: 5,
  async run({ pushId }, ctx) {
    const push = await findDonePush(ctx.db, pushId)
    const options = push && parsePushOptions(push.options).options.merge_request
    if (!options || push.actor_id === null) return
    const { project_id: projectId, actor_id: userId, token_id, changes } = push
    const credential = { userId, tokenId: token_id ?? undefined }
    const { isComplete } = await applyOptions(ctx, credential, { id: pushId, projectId, changes }, options)
    if (!isComplete) throw new Error('some merge requests of a push could not be created or updated')
  },
})
