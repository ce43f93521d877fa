import { endpoint, unchanged } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { findSubscribed, saveSubscription } from '../../discussion/index.ts'
import { getDetail } from '../merge-requests/detail.ts'
import { MergeRequestDetail } from '../merge-requests/detail-entity.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { mergeRequest } from '../merge-requests/subject.ts'

const subscribing = (verb: 'subscribe' | 'unsubscribe', summary: string, already: string, subscribed: boolean) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/merge_requests/:merge_request_iid/${verb}`,
    summary,
    subject: mergeRequest,
    allow: 'update_merge_request',
    params: Params({}),
    unchanged: already,
    returns: MergeRequestDetail,
    async handle({ subject, ctx }) {
      if ((await findSubscribed(ctx.db, ctx.actor, asNoteable(subject))) === subscribed) return unchanged
      await ctx.transaction((tx) => saveSubscription(tx, asNoteable(subject), ctx.actor!.id, subscribed))
      return getDetail(ctx, subject.project, subject.id)
    },
  })

export const subscriptionRoutes = [
  subscribing('subscribe', 'Subscribe to a merge request', 'The caller is already subscribed', true),
  subscribing('unsubscribe', 'Unsubscribe from a merge request', 'The caller is not subscribed', false),
]
