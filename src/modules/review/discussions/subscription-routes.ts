import { participantRoutesOf, subscriptionRoutesOf } from '../../discussion/index.ts'
import { getDetail } from '../merge-requests/detail.ts'
import { MergeRequestDetail } from '../merge-requests/detail-entity.ts'
import { discussedMergeRequest } from './subject.ts'

export const subscriptionRoutes = [
  ...subscriptionRoutesOf(discussedMergeRequest, {
    allow: 'update_merge_request',
    returns: MergeRequestDetail,
    show: (ctx, { project, id }) => getDetail(ctx, project, id),
  }),
  ...participantRoutesOf(discussedMergeRequest),
]
