import type { Caller } from '../../access/actor.ts'
import { authenticateDeployToken } from '../../areas/deploy-tokens/authenticate.ts'
import { accountRefusal, actorOf, type Refusal, type TokenAuthenticator } from '../../areas/tokens/authenticate.ts'
import { findPasswordCredential } from '../../areas/tokens/queries.ts'
import { isPassword } from '../../areas/users/password.ts'
import type { Db } from '../../db/db.ts'
import type { Settings } from '../../settings/settings.ts'
import { basicCredentials } from './basic.ts'

export type Shown = { caller: Caller } | { denied: Refusal | 'wrong' }

/** What git shows: a token beside any name, a deploy token beside its own, or a password. Nothing shown is nobody known. */
export async function authenticateGit(
  header: string | undefined,
  { authenticator, db, settings }: { authenticator: TokenAuthenticator; db: Db; settings: Settings },
): Promise<Shown> {
  if (header === undefined) return { caller: null }
  const shown = basicCredentials(header)
  if (!shown || shown.password === '' || shown.username === '') return { denied: 'wrong' }
  const byToken = await authenticator.authenticate(shown.password)
  if ('actor' in byToken) return { caller: byToken.actor }
  if (byToken.refused !== 'unknown') return { denied: byToken.refused }
  // PostgreSQL has no NUL.
  if (/\0/.test(shown.username)) return { denied: 'wrong' }
  const byDeployToken = await authenticateDeployToken(db, { username: shown.username, token: shown.password })
  if ('actor' in byDeployToken) return { caller: byDeployToken.actor }
  if (byDeployToken.refused !== 'unknown') return { denied: byDeployToken.refused }
  if (!settings.password_authentication_enabled_for_git) return { denied: 'wrong' }
  const account = await findPasswordCredential(db, shown.username)
  // Also without an account: who has one must not be told by the time it takes.
  if (!(await isPassword(account?.password_digest ?? null, shown.password)) || !account) return { denied: 'wrong' }
  const refused = accountRefusal(account)
  return refused ? { denied: refused } : { caller: actorOf(account) }
}
