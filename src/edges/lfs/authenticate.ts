import type { Actor, Caller } from '../../access/actor.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { authenticateForKey, deployKeyActor, type SignInRefusal } from '../../modules/accounts/index.ts'
import { authenticateForDeployToken } from '../../modules/groups/index.ts'
import { type Grant, readCredential } from '../../modules/pushes/index.ts'
import { authenticateGit, type Denial } from '../http/authenticate-git.ts'
import { callerNow } from '../http/caller-now.ts'
import type { HttpContext } from '../http/context.ts'

export type Known = { readonly caller: Caller; readonly grant: Grant | undefined }

/** Authenticates Git credentials, or an LFS credential (`largeFileCredentials`), which is valid only for what it grants. */
export async function authenticateLfs(
  header: string | undefined,
  context: HttpContext,
  remoteAddress: string,
): Promise<Known | Denial> {
  const credential = /^bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1]
  if (credential === undefined) {
    const shown = await authenticateGit(header, context, remoteAddress, 'lfs')
    return 'denied' in shown ? shown : { caller: shown.caller, grant: undefined }
  }
  const refuse = (denied: SignInRefusal): Denial => {
    logFailedSignIn(context.log, { transport: 'lfs', reason: denied, remoteAddress })
    return { denied }
  }
  const grant = await readCredential(context.db, credential)
  if (typeof grant === 'string') return refuse(grant)
  const found = await holderNow(grant, context)
  return 'refused' in found ? refuse(found.refused) : { caller: found.actor, grant }
}

async function holderNow(
  { holder }: Grant,
  { db, authenticator }: HttpContext,
): Promise<{ actor: Actor } | { refused: SignInRefusal }> {
  if ('deployKeyId' in holder) {
    const actor = await deployKeyActor(db, holder.deployKeyId)
    return actor ? { actor } : { refused: 'wrong' }
  }
  if ('sshKeyId' in holder) return authenticateForKey(db, holder.sshKeyId)
  return 'deployTokenId' in holder
    ? authenticateForDeployToken(db, holder.deployTokenId)
    : authenticator.authenticateDerived(holder)
}

/**
 * The caller as they are now, for a request whose body may have taken long. Undefined if they may not act any more. An LFS credential may
 * have expired meanwhile.
 */
export async function lfsCallerNow({ caller, grant }: Known, context: HttpContext): Promise<Caller | undefined> {
  if (!grant) return callerNow(caller, context)
  const found = await holderNow(grant, context)
  return 'refused' in found ? undefined : found.actor
}
