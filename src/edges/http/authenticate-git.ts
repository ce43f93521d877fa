import type { Caller } from '../../access/actor.ts'
import { authenticateDeployToken } from '../../areas/deploy-tokens/authenticate.ts'
import { gitRefusals } from '../../areas/tokens/authenticate.ts'
import { type SignInRefusal, signInWithPassword } from '../../areas/users/sign-in.ts'
import { basicCredentials } from './basic.ts'
import type { Doors } from './doors.ts'

export type Denial = SignInRefusal
export type Shown = { caller: Caller } | { denied: Denial }

/** What git shows: a token beside any name, a deploy token beside its own, or a password. Nothing shown is nobody known. */
export async function authenticateGit(header: string | undefined, doors: Doors, remoteAddress: string): Promise<Shown> {
  if (header === undefined) return { caller: null }
  const shown = basicCredentials(header)
  if (!shown || shown.password === '' || shown.username === '') return { denied: 'wrong' }
  const byToken = await doors.authenticator.authenticate(shown.password)
  if ('actor' in byToken) return { caller: byToken.actor }
  if (byToken.refused !== 'unknown') return { denied: byToken.refused }
  // PostgreSQL has no NUL.
  if (/\0/.test(shown.username)) return { denied: 'wrong' }
  const byDeployToken = await authenticateDeployToken(doors.db, { username: shown.username, token: shown.password })
  if ('actor' in byDeployToken) return { caller: byDeployToken.actor }
  if (byDeployToken.refused !== 'unknown') return { denied: byDeployToken.refused }
  const ctx = await doors.open(null, remoteAddress)
  if (!ctx.settings.password_authentication_enabled_for_git) return { denied: 'wrong' }
  const byPassword = await signInWithPassword(ctx, shown.username, shown.password)
  return 'refused' in byPassword ? { denied: byPassword.refused } : { caller: byPassword.actor }
}

/** What somebody is told who may not come in though his credentials are right; `undefined` when they are not. */
export const denialText = (denied: Denial, siteUrl: string): string | undefined =>
  denied === 'password_expired'
    ? `Your password expired. Please choose a new one at ${siteUrl}/-/users/password/new`
    : gitRefusals[denied as keyof typeof gitRefusals]
