import type { Caller } from '../../access/actor.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Exchange } from './answer.ts'
import { callerOf } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import { hasLimits, type LimitedRequests, refusedByLimits } from './rate-limit.ts'

/** The origin of a request, and the rate limits that apply to it. */
export type Visitor = {
  readonly exchange: Exchange
  readonly remoteAddress: string
  readonly settings: Settings
  readonly kind: LimitedRequests
  /** What the log names for a rejected token; default: `kind`. */
  readonly transport?: LimitedRequests | 'oauth'
}

/**
 * Authenticates the token and applies the rate limits. `undefined` if the caller exceeds a limit; the response has been sent
 * then. A rejected token counts against the address, like a request without one, so that guessing does not circumvent the
 * limits. Calls `onRevoked` first for a revoked token.
 */
export async function admit(
  token: string | undefined,
  visitor: Visitor,
  context: HttpContext,
  onRevoked?: ((token: string) => Promise<void>) | undefined,
): Promise<Caller | undefined> {
  const { exchange, remoteAddress, settings, kind } = visitor
  const { db } = context
  const isLimited = async (caller: Caller) =>
    hasLimits(settings, kind) && refusedByLimits(exchange, { db, settings }, caller, remoteAddress, kind)
  let caller: Caller
  try {
    caller = await authenticated(token, visitor, context, onRevoked)
  } catch (error) {
    if (await isLimited(null)) return undefined
    throw error
  }
  return (await isLimited(caller)) ? undefined : caller
}

/** The caller as token and account are now. Asked again after the body, which may have taken long. */
export const authenticated = (
  token: string | undefined,
  { remoteAddress, kind, transport = kind }: Visitor,
  { authenticator, log }: HttpContext,
  onRevoked?: ((token: string) => Promise<void>) | undefined,
): Promise<Caller> =>
  callerOf(token, authenticator, onRevoked, (reason) => logFailedSignIn(log, { transport, reason, remoteAddress }))
