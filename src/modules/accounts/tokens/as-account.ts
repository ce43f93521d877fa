import type { Ctx } from '../../../api/ctx.ts'
import { accountRefusal, actorOf } from './authenticate.ts'
import { findAccount } from './queries.ts'

/** A job's context as that of whoever asked for it, if he may still act. One statement. */
export async function asAccount(ctx: Ctx, userId: number): Promise<Ctx | undefined> {
  const account = await findAccount(ctx.db, String(userId))
  return account && !accountRefusal(account) ? { ...ctx, actor: actorOf(account) } : undefined
}
