import type { Actor, Caller } from '../src/access/actor.ts'
import type { Ctx } from '../src/api/ctx.ts'
import { accountRefusal, actorOf } from '../src/areas/tokens/authenticate.ts'
import { findAccount } from '../src/areas/tokens/queries.ts'
import type { Client, World } from './world.ts'

/** Somebody as services see him. Throws when his account may not act. */
export async function actorFor(world: World, who: Client): Promise<Actor> {
  const account = await findAccount(world.db, String(who.id))
  if (!account || accountRefusal(account)) throw new Error(`${who.username} cannot act`)
  return actorOf(account)
}

/** What a service is called with when this person (or nobody) calls. */
export async function contextFor(world: World, who: Client | null): Promise<Ctx> {
  const caller: Caller = who && (await actorFor(world, who))
  return world.app.open(caller)
}
