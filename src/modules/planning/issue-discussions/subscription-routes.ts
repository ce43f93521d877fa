import { participantRoutesOf, subscriptionRoutesOf } from '../../discussion/index.ts'
import { getIssue } from '../issues/detail.ts'
import { Issue } from '../issues/entity.ts'
import { discussedIssue } from './subject.ts'

export const issueSubscriptionRoutes = [
  ...subscriptionRoutesOf(discussedIssue, {
    allow: 'read_issue',
    returns: Issue,
    show: (ctx, { project, id }) => getIssue(ctx, project, id),
  }),
  ...participantRoutesOf(discussedIssue),
]
