import type { Actor } from '../../../access/actor.ts'
import { isScope } from '../../../access/scopes.ts'
import type { Db } from '../../../db/db.ts'
import { digestOf } from '../../../kernel/token-secret.ts'
import type { Authentication } from '../../accounts/index.ts'
import { type DeployTokenCredentialRow, findDeployTokenById, findDeployTokenCredential } from './queries.ts'

/**
 * Authenticates a deploy token with its user name. Not cached: one statement, and a revocation takes effect at once.
 */
export const authenticateDeployToken = async (
  db: Db,
  { username, token }: { username: string; token: string },
): Promise<Authentication> =>
  authenticationOf(await findDeployTokenCredential(db, { username, digest: digestOf(token) }))

/** Authenticates a credential derived from a deploy token: it is valid as long as the token is. */
export const authenticateForDeployToken = async (db: Db, id: number): Promise<Authentication> =>
  authenticationOf(await findDeployTokenById(db, id))

function authenticationOf(row: DeployTokenCredentialRow | undefined): Authentication {
  if (!row) return { refused: 'unknown' }
  if (row.revoked) return { refused: 'revoked' }
  return row.expired ? { refused: 'expired' } : { actor: actorOf(row) }
}

/** A deploy token sees public projects and its own, limited by its scopes. */
const actorOf = ({ id, creator_id, name, username, scopes }: DeployTokenCredentialRow): Actor => ({
  id: 0,
  username,
  name,
  email: '',
  admin: false,
  external: true,
  canCreateGroup: false,
  projectsLimit: 0,
  scopes: new Set((scopes as readonly string[]).filter(isScope)),
  tokenId: undefined,
  deployToken: { id, creatorId: creator_id },
})
