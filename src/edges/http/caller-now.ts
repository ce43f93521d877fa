import type { Caller } from '../../access/actor.ts'
import { credentialOf } from '../../modules/accounts/index.ts'
import { authenticateForDeployToken } from '../../modules/groups/index.ts'
import type { HttpContext } from './context.ts'

/** An authenticated caller as account and credential are now, for a request whose body may have taken long. Undefined if they may not act any more. */
export async function callerNow(caller: Caller, { db, authenticator }: HttpContext): Promise<Caller | undefined> {
  if (!caller) return null
  const { deployToken } = caller
  const found = deployToken
    ? await authenticateForDeployToken(db, deployToken.id)
    : await authenticator.authenticateDerived(credentialOf(caller))
  return 'actor' in found ? found.actor : undefined
}
