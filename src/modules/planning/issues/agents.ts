import type { Ctx } from '../../../api/ctx.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type AgentRow, findAgent } from './agent-queries.ts'

/** Maximum stored characters of a User-Agent header. */
const longestAgent = 1024

/** Where a request came from; null in jobs. */
export const agentOf = ({ remoteAddress, userAgent = '' }: Ctx): AgentRow | null =>
  remoteAddress === undefined ? null : { user_agent: userAgent.slice(0, longestAgent), ip_address: remoteAddress }

export async function getAgent(ctx: Ctx, issueId: number): Promise<AgentRow> {
  const agent = await findAgent(ctx.db, issueId)
  if (!agent) throw notFound('UserAgentDetail')
  return agent
}
