import type { Caller } from '../../access/actor.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Exchange } from './answer.ts'
import { callerOf } from './authenticate.ts'
import type { Doors } from './doors.ts'
import { hasLimits, type LimitedDoor, refusedByLimits } from './rate-limit.ts'

/** Where a request comes from and which limits count for it. */
export type Visitor = {
  readonly exchange: Exchange
  readonly remoteAddress: string
  readonly settings: Settings
  readonly door: LimitedDoor
}

/**
 * Who shows this token. `undefined` when he is over a limit, and has been told so. A token that is refused counts for the
 * address, as none does: guessing is no way around the limits. Of a revoked one `onRevoked` hears first.
 */
export async function admit(
  token: string | undefined,
  { exchange, remoteAddress, settings, door }: Visitor,
  { db, authenticator }: Doors,
  onRevoked?: ((token: string) => Promise<void>) | undefined,
): Promise<Caller | undefined> {
  const isLimited = async (caller: Caller) =>
    hasLimits(settings, door) && refusedByLimits(exchange, { db, settings }, caller, remoteAddress, door)
  let caller: Caller
  try {
    caller = await callerOf(token, authenticator, onRevoked)
  } catch (error) {
    if (await isLimited(null)) return undefined
    throw error
  }
  return (await isLimited(caller)) ? undefined : caller
}
