import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import type { Notifications } from '../../../db/notifications.ts'
import { digestOf } from '../../../kernel/token-secret.ts'
import {
  type CredentialRow,
  findDerivedCredential,
  findTokenCredential,
  type TokenCredentialRow,
  touchCredential,
} from './queries.ts'

/** Why a credential is refused. */
export type Refusal =
  | 'unknown'
  | 'expired'
  | 'revoked'
  /** An impersonation token while impersonation is off. */
  | 'impersonation_off'
  | 'blocked'
  | 'deactivated'
  /** The installation requires confirmed addresses, and the user's is not confirmed. */
  | 'unconfirmed'
  /** A placeholder account, which cannot sign in. */
  | 'internal'

export type Authentication = { actor: Actor } | { refused: Refusal }

/**
 * Maximum cache age in milliseconds. It bounds the delay of a revocation if a notification is lost; the specification
 * allows one second.
 */
export const maximumAgeMs = 900
const maximumTokens = 50_000

/**
 * Maps tokens to actors. Cached tokens cost no statement for `maximumAgeMs`. Every change of tokens, accounts or
 * settings sends a notification in its transaction, which empties the cache, as does losing the listening connection.
 */
export class TokenAuthenticator {
  readonly #db: Db
  readonly #impersonation: boolean
  readonly #cache: LRUCache<string, Promise<Authentication>>

  /** `clock` measures the age of cached tokens, in milliseconds. */
  constructor(
    db: Db,
    notifications: Notifications,
    { impersonation }: { impersonation: boolean },
    clock: () => number = () => performance.now(),
  ) {
    this.#db = db
    this.#impersonation = impersonation
    this.#cache = new LRUCache({
      max: maximumTokens,
      ttl: maximumAgeMs,
      ttlResolution: 20,
      perf: { now: clock },
    })
    notifications.onChange((topic) => {
      // A setting decides whether unconfirmed accounts may act.
      if (topic === undefined || topic === 'actors' || topic === 'settings') this.#cache.clear()
    })
  }

  authenticate(secret: string): Promise<Authentication> {
    // The key is the digest, so that heap dumps and core files contain no tokens.
    const digest = digestOf(secret)
    const key = digest.toString('latin1')
    const known = this.#cache.get(key)
    if (known) return known
    const found = this.#find(digest)
    found.catch(() => this.#cache.delete(key))
    this.#cache.set(key, found)
    return found
  }

  async #find(digest: Buffer): Promise<Authentication> {
    const row = await findTokenCredential(this.#db, digest)
    if (!row) return { refused: 'unknown' }
    const refused = tokenRefusal(row, this.#impersonation) ?? accountRefusal(row)
    if (refused) return { refused }
    // Not awaited: losing the update of the last use is harmless.
    if (!row.noted) touchCredential(this.#db, 'access_tokens', row.token_id).catch(() => {})
    return { actor: tokenActor(row) }
  }

  /** See the function of this name. */
  authenticateDerived(credential: DerivedCredential): Promise<Authentication> {
    return authenticateDerived(this.#db, credential, { impersonation: this.#impersonation })
  }
}

/** The account, and the access token or the password (`passwordVersion` of the actor) that was used, if any. */
export type DerivedCredential = {
  readonly userId: number
  readonly tokenId: number | undefined
  readonly passwordVersion?: string | undefined
}

/** The credential of an actor, to authenticate it again. */
export const credentialOf = ({ id, tokenId, passwordVersion }: Actor): DerivedCredential => ({
  userId: id,
  tokenId,
  passwordVersion,
})

/**
 * Authenticates a credential that was derived from a token or a password (or, without either, from the account itself): it is
 * valid as long as that is. One statement.
 */
export async function authenticateDerived(
  db: Db,
  { userId, tokenId, passwordVersion }: DerivedCredential,
  { impersonation }: { impersonation: boolean },
): Promise<Authentication> {
  const row = await findDerivedCredential(db, userId, tokenId)
  if (!row) return { refused: 'unknown' }
  if (tokenId === undefined) {
    const refused = accountRefusal(row)
    if (refused) return { refused }
    if (passwordVersion === undefined) return { actor: actorOf(row) }
    return row.password_version === passwordVersion
      ? { actor: { ...actorOf(row), passwordVersion } }
      : { refused: 'revoked' }
  }
  if (row.token_id === null) return { refused: 'revoked' }
  const token = row as TokenCredentialRow
  const refused = tokenRefusal(token, impersonation) ?? accountRefusal(token)
  return refused ? { refused } : { actor: tokenActor(token) }
}

/**
 * The actor of a token. With a limited token, administrators have only the rights of their memberships, because
 * administrator rights are not bound to a project or group.
 */
const tokenActor = (row: TokenCredentialRow): Actor => ({
  ...actorOf(row),
  scopes: new Set(row.scopes),
  tokenId: row.token_id,
  ...((row.token_kind === 'oauth' || row.token_kind === 'impersonation') && { borrowed: row.token_kind }),
  ...(row.limits && { limits: row.limits, admin: false }),
})

/** Messages for git over every transport. Other refusals look like wrong credentials. */
export const gitRefusals = {
  blocked: 'Your account has been blocked.',
  deactivated: 'Your account has been deactivated. Please sign in to activate it.',
  unconfirmed: 'Your e-mail address is not confirmed. Please follow the link that was sent to it.',
  internal: 'This action cannot be performed by internal users',
} as const satisfies Partial<Record<Refusal, string>>

function tokenRefusal(row: TokenCredentialRow, impersonation: boolean): Refusal | undefined {
  if (row.expired) return 'expired'
  if (row.revoked) return 'revoked'
  return row.token_kind === 'impersonation' && !impersonation ? 'impersonation_off' : undefined
}

/** Why an account may not act at all. Checked on every transport, for every credential. */
export function accountRefusal(row: CredentialRow): Refusal | undefined {
  if (row.kind === 'ghost') return 'internal'
  // The SSH keys of a bot, and what it began, end with its token.
  if (row.ended) return 'blocked'
  if (row.state !== 'active') return row.state === 'deactivated' ? 'deactivated' : 'blocked'
  return row.unconfirmed ? 'unconfirmed' : undefined
}

/** The account as an actor without a token. */
export const actorOf = (row: CredentialRow): Actor => ({
  id: row.user_id,
  username: row.username,
  name: row.name,
  email: row.email,
  admin: row.admin,
  external: row.external,
  canCreateGroup: row.can_create_group,
  projectsLimit: row.projects_limit,
  scopes: undefined,
  tokenId: undefined,
  ...(row.commit_email !== null && { commitEmail: row.commit_email }),
  ...(row.kind === 'bot' && { bot: { creatorId: row.bot_creator_id } }),
})
