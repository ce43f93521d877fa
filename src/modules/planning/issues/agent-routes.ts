import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import type { AgentRow } from './agent-queries.ts'
import { getAgent } from './agents.ts'
import { issue } from './subject.ts'

const UserAgentDetail = entity({
  name: 'UserAgentDetail',
  schema: Type.Object({
    user_agent: Type.String({ description: 'Header `User-Agent` of the request; empty if it had none' }),
    ip_address: Type.String({ description: 'IP address of the client' }),
    akismet_submitted: Type.Boolean({ description: 'Always false: nothing is reported to a spam service' }),
  }),
  present: ({ user_agent, ip_address }: AgentRow) => ({ user_agent, ip_address, akismet_submitted: false }),
})

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
