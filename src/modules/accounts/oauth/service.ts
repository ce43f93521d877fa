import { randomBytes } from 'node:crypto'
import { isScope, type Scope } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { logFailedSignIn } from '../../../kernel/failed-sign-in.ts'
import { digestOf } from '../../../kernel/token-secret.ts'
import { signIn } from '../sign-in/service.ts'
import { accountRefusal } from '../tokens/authenticate.ts'
import { revokeFamily, revokeToken } from '../tokens/queries.ts'
import { endFamily } from '../tokens/service.ts'
import { findTwoFactor } from '../two-factor/queries.ts'
import { holdPassword, holdPasswordOf, insertOauthToken, lockByRefreshToken, lockFamilyBySecret } from './queries.ts'

const accessSeconds = 2 * 60 * 60
/** Days that a refresh token outlives its access token. */
export const refreshDays = 60

/** Response of RFC 6749, 5.1; `created_at` is in seconds since 1970. */
export type TokenAnswer = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
  readonly created_at: number
}

/** Why no token is issued: an error code of RFC 6749, 5.2, or a missing second factor. */
export type Refused =
  | { readonly error: 'invalid_grant' | 'invalid_scope' | 'code_missing' }
  | { readonly error: 'throttled'; readonly retryAfterSeconds: number }

/** 256 bits: longer than other tokens, which lets old clients tell them apart. */
const newSecret = (): string => randomBytes(32).toString('hex')

/** Parses OAuth scopes; `undefined` if there are none or some are unknown or not offered. */
function scopesOf(text: string | undefined, offered: (scope: Scope) => boolean): Scope[] | undefined {
  const names = [...new Set((text ?? '').split(' ').filter(Boolean))]
  if (names.length === 0) return undefined
  const known = names.filter(isScope).filter(offered)
  return known.length === names.length ? known : undefined
}

async function issue(tx: Tx, userId: number, scopes: readonly Scope[], familyId: number | null): Promise<TokenAnswer> {
  const [access, refresh] = [newSecret(), newSecret()]
  const createdAt = await insertOauthToken(tx, {
    userId,
    scopes,
    digest: digestOf(access),
    refreshDigest: digestOf(refresh),
    seconds: accessSeconds,
    familyId,
  })
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: refresh,
    scope: scopes.join(' '),
    created_at: createdAt,
  }
}

/** Issues a token for a user name, password and, if the account has a second factor, its code. */
export async function grantByPassword(
  ctx: Ctx,
  request: { username: string; password: string; code: string | undefined; scope: string | undefined },
): Promise<TokenAnswer | Refused> {
  const scopes = scopesOf(request.scope || 'api', () => true)
  // Before the sign-in, which uses up a code.
  if (!scopes) return { error: 'invalid_scope' }
  const signedIn = await signIn(ctx, {
    login: request.username,
    password: request.password,
    code: request.code,
    transport: 'oauth',
  })
  if ('refused' in signedIn) {
    if (signedIn.refused === 'throttled') return { error: 'throttled', retryAfterSeconds: signedIn.retryAfterSeconds! }
    return { error: signedIn.refused === 'code_missing' ? 'code_missing' : 'invalid_grant' }
  }
  const { actor, passwordDigest, withCode } = signedIn
  if (scopes.includes('sudo') && !actor.admin) return { error: 'invalid_scope' }
  return ctx.transaction(async (tx) => {
    if (!(await holdPassword(tx, actor.id, passwordDigest))) return { error: 'invalid_grant' }
    // A second factor may have been enabled since the sign-in was checked.
    if (!withCode && (await findTwoFactor(tx, actor.id))?.confirmed_at) return { error: 'code_missing' }
    await emit(tx, {
      kind: 'oauth_token_created',
      actorId: actor.id,
      payload: { user_id: actor.id },
      facts: { scopes },
    })
    return issue(tx, actor.id, scopes, null)
  })
}

/**
 * Replaces a token and its refresh token by new ones. A refresh token that was used before indicates theft and revokes
 * the whole family.
 */
export function grantByRefresh(
  ctx: Ctx,
  request: { refreshToken: string; scope: string | undefined },
): Promise<TokenAnswer | Refused> {
  const refuse = (): Refused => {
    const { log, remoteAddress } = ctx
    logFailedSignIn(log, { transport: 'oauth', reason: 'refresh_token', remoteAddress })
    return { error: 'invalid_grant' }
  }
  return ctx.transaction(async (tx): Promise<TokenAnswer | Refused> => {
    await holdPasswordOf(tx, digestOf(request.refreshToken))
    await lockFamilyBySecret(tx, digestOf(request.refreshToken))
    const held = await lockByRefreshToken(tx, digestOf(request.refreshToken), refreshDays)
    if (!held || accountRefusal(held)) return refuse()
    if (held.revoked) {
      await endFamily(tx, held.family_id)
      return refuse()
    }
    const scopes = request.scope ? scopesOf(request.scope, (scope) => held.scopes.includes(scope)) : held.scopes
    if (!scopes) return { error: 'invalid_scope' }
    await revokeToken(tx, held.token_id)
    return issue(tx, held.user_id, scopes, held.family_id)
  })
}

/**
 * Revokes the grant of a token or refresh token (RFC 7009, 2.1): also the tokens that have replaced it since. Does not
 * reveal whether the token exists.
 */
export const revoke = (ctx: Ctx, token: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const familyId = await lockFamilyBySecret(tx, digestOf(token))
    const userId = familyId === undefined ? undefined : await revokeFamily(tx, familyId)
    if (userId !== undefined)
      await emit(tx, { kind: 'oauth_token_revoked', actorId: userId, payload: { user_id: userId } })
  })
