import type { Caller } from '../../access/actor.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { authenticateForDeployToken } from '../../modules/groups/index.ts'
import { type Access, readToken, registryService } from '../../modules/registry/index.ts'
import type { HttpContext } from '../http/context.ts'
import { RegistryError } from './errors.ts'

/** A client with a token of the registry. The token limits what the policy grants to the caller at this moment. */
export type Known = { readonly caller: Caller; readonly access: readonly Access[] }

/** The caller to whom the token of a request was issued; undefined without a valid one. */
export async function bearerOf(
  header: string | undefined,
  context: HttpContext,
  folder: string,
  remoteAddress: string,
): Promise<Known | undefined> {
  const token = /^bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1]
  if (token === undefined) return undefined
  const refuse = (reason: string): undefined => {
    logFailedSignIn(context.log, { transport: 'registry', reason, remoteAddress })
    return undefined
  }
  const grant = await readToken(folder, token)
  if (typeof grant === 'string') return refuse(grant)
  const { bearer, access } = grant
  if (!bearer) return { caller: null, access }
  // Issued by an earlier release, which did not say for which password.
  if ('userId' in bearer && (bearer.tokenId ?? bearer.passwordVersion) === undefined) return refuse('unknown')
  const found =
    'deployTokenId' in bearer
      ? await authenticateForDeployToken(context.db, bearer.deployTokenId)
      : await context.authenticator.authenticateDerived(bearer)
  return 'refused' in found ? refuse(found.refused) : { caller: found.actor, access }
}

/** Whether a token was issued for an action. */
export const covers = (access: readonly Access[], type: string, name: string, action: string): boolean =>
  access.some(
    (each) => each.type === type && each.name === name && (each.actions.includes(action) || each.actions.includes('*')),
  )

/** The refusal that tells a client where to get a token for a scope. `known`: it has a token, which is not enough. */
export function challenge(siteUrl: string, scope: string | undefined, known: boolean): RegistryError {
  const parts = [
    `realm="${siteUrl}/jwt/auth"`,
    `service="${registryService}"`,
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
    ...(known && scope !== undefined ? ['error="insufficient_scope"'] : []),
  ]
  return new RegistryError('UNAUTHORIZED', {
    headers: { 'www-authenticate': `Bearer ${parts.join(',')}` },
    ...(scope !== undefined && { detail: { scope } }),
  })
}
