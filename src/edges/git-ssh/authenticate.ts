import type { Logger } from 'pino'
import ssh2 from 'ssh2'
import type { Db } from '../../db/db.ts'
import { isKnownKey, sha256Of } from '../../modules/accounts/index.ts'
import { isThrottled, noteFailure, throttleKeys } from '../../modules/instance/index.ts'
import type { SshLimits } from './limits.ts'

/** Whoever it is, the key tells; so all come by one name. */
const userName = 'git'

/**
 * Answers attempts to sign in: public keys that somebody has, and nothing else. Resolves with the SHA-256 of the key once
 * its possession is proved; whose it is, and whether he may act, is asked again for every command. A connection that shows
 * none counts as a failed attempt of its address, as a wrong password does; where there are too many, the first wrong key
 * ends it. Right keys are taken all the same: they cannot be guessed.
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
  const refuse = async (attempt: ssh2.AuthContext) => {
    const isFirst = ++refused === 1
    if (refused >= limits.attempts || (isFirst && (await isThrottled(db, keys)) !== undefined)) return connection.end()
    attempt.reject(['publickey'])
  }
  const failed = (error: unknown) => {
    log.error({ err: error }, 'a key could not be looked up')
    connection.end()
  }
  connection.once('close', () => {
    if (refused > 0 && !known) noteFailure(db, keys).catch(failed)
  })
  connection.on('authentication', (attempt) => {
    // By this, clients ask what there is to try.
    if (attempt.method === 'none') return attempt.reject(['publickey'])
    if (attempt.method !== 'publickey' || attempt.username !== userName) return void refuse(attempt).catch(failed)
    const sha256 = sha256Of(attempt.key.data)
    isKnownKey(db, sha256)
      .then((isKnown) => {
        if (!isKnown || !isSound(attempt)) return refuse(attempt)
        // Without a signature it was only the question whether this key would do.
        if (attempt.signature) {
          known = true
          resolve(sha256)
        }
        attempt.accept()
      })
      .catch(failed)
  })
  return promise
}

/** A key we can verify with, and, once there is a signature, a right one. RSA with SHA-1 is refused: it can be forged. */
function isSound({ key, signature, blob, hashAlgo }: ssh2.PublicKeyAuthContext): boolean {
  if (key.algo === 'ssh-rsa' && hashAlgo === undefined) return false
  if (!signature || !blob) return true
  const parsed = ssh2.utils.parseKey(key.data)
  return !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo) === true
}
