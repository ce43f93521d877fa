import type { Logger } from 'pino'
import ssh2 from 'ssh2'
import type { Db } from '../../db/db.ts'
import { logFailedSignIn } from '../../kernel/failed-sign-in.ts'
import { isKnownKey, sha256Of } from '../../modules/accounts/index.ts'
import { isThrottled, recordFailure, throttleKeys } from '../../modules/instance/index.ts'
import { logFault } from '../http/failures.ts'
import type { SshLimits } from './limits.ts'

/** The key identifies the user, so all clients use the same name. */
const userName = 'git'

/**
 * Handles authentication attempts: accepts only registered public keys. Resolves with the SHA-256 of the key once the client
 * has proved possession; its owner, and whether they may act, is checked again for every command. A connection without an
 * accepted key counts as a failed attempt of its address, like a wrong password; if the address is throttled, the first wrong
 * key ends the connection. Valid keys are accepted even then, because they cannot be guessed.
 */
export function signIn(
  connection: ssh2.Connection,
  { db, log }: { db: Db; log: Logger },
  limits: SshLimits,
  remoteAddress: string | undefined,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const keys = throttleKeys(undefined, remoteAddress)
  let refused = 0
  let known = false
  let isThrottledOut = false
  const refuse = async (attempt: ssh2.AuthContext) => {
    const isFirst = ++refused === 1
    if (isFirst && (await isThrottled(db, keys)) !== undefined) {
      isThrottledOut = true
      return connection.end()
    }
    if (refused >= limits.maxAttempts) return connection.end()
    attempt.reject(['publickey'])
  }
  const failed = (error: unknown) => {
    logFault(log, error, {}, 'a key could not be looked up')
    connection.end()
  }
  connection.once('close', () => {
    if (refused === 0 || known) return
    logFailedSignIn(log, { transport: 'ssh', reason: isThrottledOut ? 'throttled' : 'unknown_key', remoteAddress })
    recordFailure(db, keys).catch(failed)
  })
  connection.on('authentication', (attempt) => {
    // Clients use this to list the supported methods.
    if (attempt.method === 'none') return attempt.reject(['publickey'])
    if (attempt.method !== 'publickey' || attempt.username !== userName) return void refuse(attempt).catch(failed)
    const sha256 = sha256Of(attempt.key.data)
    isKnownKey(db, sha256)
      .then((isKnown) => {
        if (!isKnown || !isSound(attempt)) return refuse(attempt)
        // Without a signature, the client only asks whether this key would be accepted.
        if (attempt.signature) {
          known = true
          resolve(sha256)
        } else attempt.key.algo = askedAlgorithm(attempt)
        attempt.accept()
      })
      .catch(failed)
  })
  return promise
}

/** The library calls every RSA key `ssh-rsa`. The answer names what the client asked for (RFC 4252, section 7): asyncssh, for one, insists. */
const askedAlgorithm = ({ key, hashAlgo }: ssh2.PublicKeyAuthContext): string =>
  key.algo === 'ssh-rsa' && hashAlgo !== undefined ? hashAlgo.replace('sha', 'rsa-sha2-') : key.algo

/**
 * Whether the key is acceptable and, if there is a signature, whether it is valid. Rejects RSA with SHA-1, which can be forged.
 */
function isSound({ key, signature, blob, hashAlgo }: ssh2.PublicKeyAuthContext): boolean {
  if (key.algo === 'ssh-rsa' && hashAlgo === undefined) return false
  if (!signature || !blob) return true
  const parsed = ssh2.utils.parseKey(key.data)
  return !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo) === true
}
