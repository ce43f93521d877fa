import { endpoint } from '../../../api/endpoint.ts'
import { UserAgentDetail } from './agent-entity.ts'
import { getAgent } from './agents.ts'
import { issue } from './subject.ts'

export const issueAgentRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/issues/:issue_iid/user_agent_detail',
    summary: 'Get user agent of an issue',
    description: 'Address and client of the request that created the issue; only for administrators.',
    subject: issue,
    allow: 'read_user_agent',
    returns: UserAgentDetail,
    handle: ({ subject, ctx }) => getAgent(ctx, subject.id),
  }),
]
