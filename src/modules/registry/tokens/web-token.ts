import { randomUUID, sign, verify } from 'node:crypto'
import type { DerivedCredential } from '../../accounts/index.ts'
import { type SigningKey, signingKeyIn } from './signing-key.ts'

/** Permission to act on one repository, or on the catalog. */
export type Access = { readonly type: string; readonly name: string; readonly actions: readonly string[] }

/** Whom a token was issued to; undefined for anonymous clients. */
export type Bearer = DerivedCredential | { readonly deployTokenId: number } | undefined

export type Grant = { readonly bearer: Bearer; readonly access: readonly Access[] }

/** The registry as tokens name it. */
export const service = 'container_registry'
const issuer = 'stithy-issuer'

/** Maximum clock difference between machines. */
const toleranceSeconds = 5

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A signed JSON web token (RFC 7519) for a client of the registry. `username` is null for anonymous clients. */
export async function issueToken(
  folder: string,
  { bearer, access }: Grant,
  { username, lifetimeSeconds }: { username: string | null; lifetimeSeconds: number },
): Promise<string> {
  const key = await signingKeyIn(folder)
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer,
    sub: username,
    aud: service,
    exp: now + lifetimeSeconds,
    nbf: now - toleranceSeconds,
    iat: now,
    jti: randomUUID(),
    access,
    ...(bearer && { bearer }),
  }
  const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: key.id })}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key.private).toString('base64url')}`
}

/** What a token grants, or why it is refused: `unknown` if it is not one of ours, `expired` if it is not valid now. */
export async function readToken(folder: string, token: string): Promise<Grant | 'unknown' | 'expired'> {
  const claims = signedClaims(token, await signingKeyIn(folder))
  if (!claims || claims.iss !== issuer || claims.aud !== service) return 'unknown'
  const now = Date.now() / 1000
  // Issued in the future if the clock was set back: the token must not be valid for longer because of that.
  if (now >= claims.exp || now < claims.nbf - toleranceSeconds) return 'expired'
  return { bearer: claims.bearer, access: claims.access }
}

type Claims = { iss: string; aud: string; exp: number; nbf: number; access: Access[]; bearer?: Bearer }

function signedClaims(token: string, key: SigningKey): Claims | undefined {
  const [, text, claims, signature] = /^([\w-]+\.([\w-]+))\.([\w-]+)$/.exec(token) ?? []
  if (text === undefined || claims === undefined || signature === undefined) return undefined
  if (!verify('sha256', Buffer.from(text), key.public, Buffer.from(signature, 'base64url'))) return undefined
  // Only our key can have signed it, so the claims have our form.
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}
