import type { Actor, Caller } from '../src/access/actor.ts'
import type { Ctx } from '../src/api/ctx.ts'
import { accountRefusal, actorOf } from '../src/modules/accounts/tokens/authenticate.ts'
import { findAccount } from '../src/modules/accounts/tokens/queries.ts'
import type { Located } from '../src/modules/projects/repositories/location.ts'
import { projectRow } from './tables/projects.ts'
import type { Client, World } from './world.ts'

/** The caller as services see them. Throws when the account may not act. */
export async function actorFor(world: World, who: Client): Promise<Actor> {
  const account = await findAccount(world.db, String(who.id))
  if (!account || accountRefusal(account)) throw new Error(`${who.username} cannot act`)
  return actorOf(account)
}

/** The context of a service call by this user, or by an anonymous caller. */
export async function contextFor(world: World, who: Client | null): Promise<Ctx> {
  const caller: Caller = who && (await actorFor(world, who))
  return world.app.open(caller)
}

/** The location of a project's repository, and its key. */
export async function locate(world: World, id: number): Promise<Located> {
  const [project] = await projectRow(world, id, 'id', 'repository_storage', 'repository_key')
  return project
}

/** The same, and counts transactions and writes outside of them. */
export function counting(ctx: Ctx): { ctx: Ctx; counts: { transactions: number; writes: number } } {
  const counts = { transactions: 0, writes: 0 }
  const run: Ctx['db']['run'] = (statement) => {
    counts.writes++
    return ctx.db.run(statement)
  }
  const transaction: Ctx['transaction'] = (work) => {
    counts.transactions++
    return ctx.transaction(work)
  }
  return { ctx: { ...ctx, transaction, db: Object.create(ctx.db, { run: { value: run } }) as Ctx['db'] }, counts }
}

/** The same context, whose first transaction fails, as if what it is about could not be changed. */
export const failingOnce = (ctx: Ctx): Ctx => {
  let first = true
  return {
    ...ctx,
    transaction: (work) => {
      if (!first) return ctx.transaction(work)
      first = false
      return Promise.reject(new Error('cannot be changed'))
    },
  }
}
