import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type AgentRow, findAgent, insertAgent } from './agent-queries.ts'

/** Maximum stored characters of a User-Agent header. */
const longestAgent = 1024

/** Stores where the request to create an issue came from; nothing in jobs. */
export async function recordAgent(tx: Tx, { actor, remoteAddress, userAgent }: Ctx, issueId: number): Promise<void> {
  if (remoteAddress === undefined) return
  const row = { user_agent: (userAgent ?? '').slice(0, longestAgent), ip_address: remoteAddress }
  await insertAgent(tx, issueId, actor!.id, row)
}

export async function getAgent(ctx: Ctx, issueId: number): Promise<AgentRow> {
  const agent = await findAgent(ctx.db, issueId)
  if (!agent) throw notFound('UserAgentDetail')
  return agent
}
