import type { Ctx } from '../../../api/ctx.ts'
import { accountRefusal, actorOf } from './authenticate.ts'
import { findAccount } from './queries.ts'

/**
 * The job's context with the rights of the user who requested it; undefined if the account may not act any more. One
 * statement.
 */
export async function asAccount(ctx: Ctx, userId: number): Promise<Ctx | undefined> {
  const account = await findAccount(ctx.db, String(userId))
  return account && !accountRefusal(account) ? { ...ctx, actor: actorOf(account) } : undefined
}
