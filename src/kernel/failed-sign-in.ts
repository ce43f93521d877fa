import type { Logger } from 'pino'
import { Counter } from 'prom-client'

/** The ways to present a credential. `account` is the API for the second factor, which asks for a password or a code again. */
type SignInTransport = 'api' | 'web' | 'oauth' | 'git-http' | 'lfs' | 'registry' | 'ssh' | 'account'

type FailedSignIn = Readonly<{
  transport: SignInTransport
  /** One of a closed set of names; `unknown` for a token that does not exist. */
  reason: string
  remoteAddress: string | undefined
  /** The user name or e-mail address that was entered. */
  login?: string | undefined
  userId?: number | undefined
}>

const failures = new Counter({
  name: 'stithy_sign_in_failures_total',
  help: 'Credentials that were refused, by transport and reason',
  labelNames: ['transport', 'reason'],
})

/** Longest login in the log, in characters. */
const maxLoginLength = 255

/**
 * Writes one line for a refused credential. The filter for fail2ban in docs/logging.md reads it: the event and the address
 * stand before anything that the client chose.
 */
export function logFailedSignIn(log: Logger, { transport, reason, remoteAddress, login, userId }: FailedSignIn): void {
  failures.labels(transport, reason).inc()
  log.warn(
    {
      event: 'sign_in_failed',
      remote_address: remoteAddress ?? 'unknown',
      transport,
      reason,
      ...(login !== undefined && { login: login.slice(0, maxLoginLength) }),
      ...(userId !== undefined && { 'user.id': userId }),
    },
    'sign-in failed',
  )
}
