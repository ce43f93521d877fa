import type { Caller } from '../../access/actor.ts'
import { authenticateForDeployToken } from '../../modules/groups/index.ts'
import type { HttpContext } from './context.ts'

/** An authenticated caller as account and token are now, for a request whose body may have taken long. Undefined if they may not act any more. */
export async function callerNow(caller: Caller, { db, authenticator }: HttpContext): Promise<Caller | undefined> {
  if (!caller) return null
  const { id, tokenId, deployToken } = caller
  const found = deployToken
    ? await authenticateForDeployToken(db, deployToken.id)
    : await authenticator.authenticateDerived({ userId: id, tokenId })
  return 'actor' in found ? found.actor : undefined
}
