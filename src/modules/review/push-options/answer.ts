import type { Ctx } from '../../../api/ctx.ts'
import { dequeue } from '../../../jobs/job.ts'
import type { AnswerToPush, CompletedPush } from '../../pushes/index.ts'
import { applyOptions, denied } from './apply.ts'
import { applyPushOptions } from './jobs.ts'
import { linksAfterPush } from './links.ts'
import type { MergeRequestOptions } from './wish.ts'

/**
 * Applies the merge request options of a push before the client sees its end, and answers with what had no effect, and with links
 * to merge requests. The effects of the push have enqueued `applyPushOptions`, which completes it if this process ends before.
 */
export const answerWithMergeRequests: AnswerToPush = async (ctx, push) => {
  const options = push.options.merge_request
  const warnings = options ? await applyNow(ctx, push, options) : []
  return { warnings, notices: await linksAfterPush(ctx, push) }
}

async function applyNow(ctx: Ctx, push: CompletedPush, options: MergeRequestOptions): Promise<readonly string[]> {
  const actor = ctx.actor!
  if (actor.deployKey || actor.deployToken) return [denied]
  const credential = { userId: actor.id, tokenId: actor.tokenId }
  const { warnings, isComplete } = await applyOptions({ ...ctx, holdsTransfer: true }, credential, push, options)
  if (isComplete) await ctx.transaction((tx) => dequeue(tx, applyPushOptions, { pushId: push.id }))
  return warnings
}
