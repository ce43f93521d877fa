import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { AgentRow } from './agent-queries.ts'

const never = 'Always false: nothing is reported to a spam service'

/** Where the request to create an issue or a snippet came from. */
export const UserAgentDetail = entity({
  name: 'UserAgentDetail',
  schema: Type.Object({
    user_agent: Type.String({ description: 'Header `User-Agent` of the request; empty if it had none' }),
    ip_address: Type.String({ description: 'IP address of the client' }),
    akismet_submitted: Type.Boolean({ description: never }),
    spam_filter_submitted: Type.Boolean({ description: never }),
  }),
  present: ({ user_agent, ip_address }: AgentRow) => ({
    user_agent,
    ip_address,
    akismet_submitted: false,
    spam_filter_submitted: false,
  }),
})
