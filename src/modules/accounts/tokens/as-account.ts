import type { Ctx } from '../../../api/ctx.ts'
import { accountRefusal, actorOf } from './authenticate.ts'
import { findAccount, findAccounts } from './queries.ts'

/**
 * The job's context with the rights of the user who requested it; undefined if the account may not act any more. One
 * statement.
 */
export async function asAccount(ctx: Ctx, userId: number): Promise<Ctx | undefined> {
  const account = await findAccount(ctx.db, String(userId))
  return account && !accountRefusal(account) ? { ...ctx, actor: actorOf(account) } : undefined
}

/** The job's context with the rights of each of these users, by their ids; without those whose accounts may not act. One statement. */
export async function asAccounts(ctx: Ctx, userIds: readonly number[]): Promise<ReadonlyMap<number, Ctx>> {
  if (userIds.length === 0) return new Map()
  const accounts = (await findAccounts(ctx.db, userIds)).filter((account) => !accountRefusal(account))
  return new Map(accounts.map(actorOf).map((actor) => [actor.id, { ...ctx, actor }]))
}
