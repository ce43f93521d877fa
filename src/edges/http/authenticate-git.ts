import type { Caller } from '../../access/actor.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { type GitTransport, gitRefusals, type SignInRefusal, signIn } from '../../modules/accounts/index.ts'
import { authenticateDeployToken } from '../../modules/groups/index.ts'
import { basicCredentials } from './basic.ts'
import type { HttpContext } from './context.ts'

export type Denial = { readonly denied: SignInRefusal; readonly retryAfterSeconds?: number }
export type Shown = { caller: Caller } | Denial

/**
 * Authenticates credentials for Git, large files or the container registry: an access token with any username, a deploy token with its own,
 * or a password. Without credentials the caller is anonymous.
 */
export async function authenticateGit(
  header: string | undefined,
  context: HttpContext,
  remoteAddress: string,
  transport: GitTransport = 'git-http',
): Promise<Shown> {
  if (header === undefined) return { caller: null }
  const shown = basicCredentials(header)
  const refuse = (denied: SignInRefusal): Denial => {
    logFailedSignIn(context.log, { transport, reason: denied, remoteAddress, login: shown?.username })
    return { denied }
  }
  if (!shown || shown.password === '' || shown.username === '') return refuse('wrong')
  const byToken = await context.authenticator.authenticate(shown.password)
  if ('actor' in byToken) return { caller: byToken.actor }
  if (byToken.refused !== 'unknown') return refuse(byToken.refused)
  // PostgreSQL rejects NUL in text.
  if (/\0/.test(shown.username)) return refuse('wrong')
  const byDeployToken = await authenticateDeployToken(context.db, { username: shown.username, token: shown.password })
  if ('actor' in byDeployToken) return { caller: byDeployToken.actor }
  if (byDeployToken.refused !== 'unknown') return refuse(byDeployToken.refused)
  const { username: login, password } = shown
  const signedIn = await signIn(await context.open(null, remoteAddress), { login, password, transport })
  if ('actor' in signedIn) return { caller: signedIn.actor }
  const { refused, retryAfterSeconds } = signedIn
  return { denied: refused, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}

const accessDenied = 'HTTP Basic: Access denied'

/** The response to a rejected sign-in, for Git and LFS clients. A 401 requires a challenge header. */
export function denialAnswer(
  { denied, retryAfterSeconds }: Denial,
  siteUrl: string,
): { status: 401 | 403 | 429; message: string; headers: Readonly<Record<string, string>> } {
  const answer = (status: 401 | 403 | 429, message: string, headers = {}) => ({ status, message, headers })
  switch (denied) {
    case 'blocked':
    case 'deactivated':
    case 'unconfirmed':
    case 'internal':
      return answer(403, gitRefusals[denied])
    case 'password_expired':
      return answer(403, `Your password expired. Please choose a new one at ${siteUrl}/-/users/password/new`)
    case 'throttled':
      return answer(429, 'Too many failed attempts. Try again later.', { 'retry-after': String(retryAfterSeconds) })
    case 'passwords_off':
    case 'code_missing':
    case 'code_demanded':
      return answer(
        401,
        `${accessDenied}\nYou must use a personal access token with 'read_repository' or 'write_repository' scope for Git over HTTP.\nYou can generate one at ${siteUrl}/-/docs#tag--tokens`,
      )
    default:
      return answer(401, accessDenied)
  }
}
