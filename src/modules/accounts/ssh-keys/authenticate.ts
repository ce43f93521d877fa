import type { Actor } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import type { Settings } from '../../../settings/settings.ts'
import { type Authentication, accountRefusal, actorOf, gitRefusals } from '../tokens/authenticate.ts'
import { touchCredential } from '../tokens/queries.ts'
import { parsePublicKey } from './public-key.ts'
import { findDeployKeyCredential, findKeyCredential, findUserKeyCredential, type KeyCredentialRow } from './queries.ts'
import { restrictionViolations } from './restrictions.ts'

/** Owner of an SSH key: an actor, or a message that says why access is refused. */
export type KeyHolder = {
  readonly keyId: number
  /** `@ann`, or the title of a deploy key. */
  readonly name: string
} & ({ readonly actor: Actor; readonly key: string } | { readonly refused: string })

/** The current owner of the key with this SHA-256; `undefined` if it is unknown. One statement, not cached. */
export async function findKeyHolder(db: Db, sha256: string): Promise<KeyHolder | undefined> {
  const row = await findKeyCredential(db, sha256)
  if (!row) return undefined
  const name = row.user_id === null ? row.title.replaceAll(/\p{Cc}/gu, ' ') : `@${row.username}`
  const refused = refusalOf(row)
  if (refused !== undefined) return { keyId: row.key_id, name, refused }
  // Not awaited: losing the update of the last use is harmless.
  touchCredential(db, 'ssh_keys', row.key_id).catch(() => {})
  return { keyId: row.key_id, name, key: row.key, actor: row.user_id === null ? actorOfDeployKey(row) : actorOf(row) }
}

/** Why a stored key is refused: the settings may have forbidden its type or size since it was added. */
export function keyRefusal(key: string, settings: Settings): string | undefined {
  const parsed = parsePublicKey(key)
  const violation = parsed && restrictionViolations(parsed, settings)[0]
  return violation && `Your SSH key ${violation}.`
}

/** A deploy key by id in its current state; `undefined` if it does not exist or has expired. */
export async function deployKeyActor(db: Db, id: number): Promise<Actor | undefined> {
  const row = await findDeployKeyCredential(db, id)
  return row && !row.expired ? actorOfDeployKey(row) : undefined
}

/** Authenticates a credential that was derived from the SSH key of a user: it is valid as long as the key is. One statement. */
export async function authenticateForKey(db: Db, id: number): Promise<Authentication> {
  const row = await findUserKeyCredential(db, id)
  if (!row || row.user_id === null) return { refused: 'unknown' }
  const refused = row.expired ? 'expired' : accountRefusal(row)
  return refused ? { refused } : { actor: actorOf(row) }
}

function refusalOf(row: KeyCredentialRow): string | undefined {
  if (row.expired) return 'Your SSH key has expired.'
  const refused = row.user_id === null ? undefined : accountRefusal(row)
  return refused && gitRefusals[refused as keyof typeof gitRefusals]
}

/**
 * A deploy key sees public projects and those where it is enabled, with the level it has there; it reaches git only.
 */
const actorOfDeployKey = ({ key_id, creator_id, title }: KeyCredentialRow): Actor => ({
  id: 0,
  username: `deploy-key-${key_id}`,
  name: title,
  email: '',
  admin: false,
  external: true,
  canCreateGroup: false,
  projectsLimit: 0,
  scopes: new Set(['read_repository', 'write_repository'] as const),
  tokenId: undefined,
  deployKey: { id: key_id, creatorId: creator_id },
})
