import type { Caller } from '../../access/actor.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { findDeployKey, type SignInRefusal } from '../../modules/accounts/index.ts'
import { authenticateForDeployToken } from '../../modules/groups/index.ts'
import { type Grant, readCredential } from '../../modules/pushes/index.ts'
import { authenticateGit, type Denial } from '../http/authenticate-git.ts'
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
  if ('deployKeyId' in grant.holder) {
    const actor = await findDeployKey(context.db, grant.holder.deployKeyId)
    return actor ? { caller: actor, grant } : refuse('wrong')
  }
  const found =
    'deployTokenId' in grant.holder
      ? await authenticateForDeployToken(context.db, grant.holder.deployTokenId)
      : await context.authenticator.authenticateDerived(grant.holder)
  return 'refused' in found ? refuse(found.refused) : { caller: found.actor, grant }
}
