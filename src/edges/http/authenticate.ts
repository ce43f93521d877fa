import type { Actor, Caller } from '../../access/actor.ts'
import { reaches, type Scope } from '../../access/scopes.ts'
import { ParameterError } from '../../api/params/parameter-error.ts'
import type { RawParams } from '../../api/params/raw.ts'
import type { Db } from '../../db/db.ts'
import { forbidden, notFound, unauthenticated } from '../../kernel/failure.ts'
import {
  accountRefusal,
  actorOf,
  authenticateDerived,
  credentialOf,
  type DerivedCredential,
  findAccount,
  type Refusal,
  type TokenAuthenticator,
} from '../../modules/accounts/index.ts'
import { WireFailure } from './failures.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

const one = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The token of a request, from any header or parameter that clients use. */
export function shownToken(headers: Headers, params: RawParams): string | undefined {
  const bearer = /^bearer\s+(\S+)$/i.exec(one(headers['authorization']) ?? '')?.[1]
  return one(headers['private-token']) ?? one(params['private_token']) ?? bearer ?? one(params['access_token'])
}

const invalidToken = (description: string): WireFailure =>
  new WireFailure({
    status: 401,
    body: { error: 'invalid_token', error_description: description },
    headers: {
      'www-authenticate': `Bearer realm="The API", error="invalid_token", error_description="${description}"`,
    },
  })

/** The error response for a rejected credential. */
export function refusal(reason: Refusal): Error {
  switch (reason) {
    case 'unknown':
      return unauthenticated()
    case 'expired':
      return invalidToken('Token is expired. You can either do re-authorization or token refresh.')
    case 'revoked':
      return invalidToken('Token was revoked. You have to re-authorize from the user.')
    case 'impersonation_off':
      return invalidToken('Token is an impersonation token but impersonation was disabled.')
    case 'blocked':
      return forbidden('Your account has been blocked.')
    case 'deactivated':
      return forbidden(
        'Your account has been deactivated by your administrator. Please log back in to reactivate your account.',
      )
    case 'unconfirmed':
      return forbidden(
        'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions.',
      )
    case 'internal':
      return forbidden('This action cannot be performed by internal users')
  }
}

/**
 * The caller that a token authenticates. Throws for an invalid token, even where anonymous callers are allowed; calls
 * `onRevoked` first for a revoked one, and `onRefused` for each.
 */
export async function callerOf(
  token: string | undefined,
  authenticator: TokenAuthenticator,
  onRevoked?: ((token: string) => Promise<void>) | undefined,
  onRefused?: (reason: Refusal) => void,
): Promise<Caller> {
  if (token === undefined) return null
  const found = await authenticator.authenticate(token)
  if ('refused' in found) {
    onRefused?.(found.refused)
    if (found.refused === 'revoked') await onRevoked?.(token)
    throw refusal(found.refused)
  }
  return found.actor
}

const insufficientScope = (wanted: readonly Scope[]): WireFailure =>
  new WireFailure({
    status: 403,
    body: {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: wanted.join(' '),
    },
  })

/** Throws unless the token has one of the wanted scopes. Anonymous callers pass; the policy decides about them. */
export function requireScope(caller: Caller, wanted: readonly Scope[]): void {
  if (caller && !reaches(caller.scopes, wanted)) throw insufficientScope(wanted)
}

/** The user whom an administrator impersonates by the `sudo` parameter or header; `undefined` without either. */
export async function sudoTarget(
  caller: Caller,
  headers: Headers,
  params: RawParams,
  db: Db,
): Promise<Actor | undefined> {
  const asked = headers['sudo'] ?? params['sudo'] ?? undefined
  if (asked === undefined) return undefined
  if (!caller) throw unauthenticated()
  if (!caller.admin) throw forbidden('Must be admin to use sudo')
  if (caller.scopes === undefined)
    throw forbidden('Must be authenticated using an OAuth or Personal Access Token to use sudo')
  if (!caller.scopes.has('sudo')) throw insufficientScope(['sudo'])
  // Rejected instead of ignored, as is an empty name, so that a caller never acts as themselves by mistake.
  if (typeof asked !== 'string' && !Number.isInteger(asked)) throw new ParameterError('sudo is invalid')
  const named = String(asked)
  // PostgreSQL rejects NUL in text.
  const account = named.includes('\0') ? undefined : await findAccount(db, named)
  if (!account) throw notFound(`User with ID or username '${named}'`)
  const refused = accountRefusal(account)
  if (refused) throw refusal(refused)
  return { ...actorOf(account), sudo: { id: caller.id, tokenId: caller.tokenId } }
}

/**
 * Throws unless the caller of a request, and the administrator who impersonates them, may still act, with all the rights that
 * their accounts had at its start.
 */
export async function requireRightsOf(
  caller: Caller,
  db: Db,
  { impersonation }: { readonly impersonation: boolean },
): Promise<void> {
  // Deploy keys and tokens are no accounts: what they may do is part of the subject.
  if (!caller || caller.id === 0) return
  const { sudo } = caller
  const nowOf = async (credential: DerivedCredential): Promise<Actor> => {
    const found = await authenticateDerived(db, credential, { impersonation })
    if ('refused' in found) throw refusal(found.refused)
    return found.actor
  }
  const now = await nowOf(credentialOf(caller))
  if (sudo && !(await nowOf({ userId: sudo.id, tokenId: sudo.tokenId })).admin) throw forbidden()
  if (
    (caller.admin && !now.admin) ||
    (now.external && !caller.external) ||
    (caller.canCreateGroup && !now.canCreateGroup)
  )
    throw forbidden()
}
