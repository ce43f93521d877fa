import type { Logger } from 'pino'
import ssh2 from 'ssh2'
import { sha256Of } from '../../areas/ssh-keys/public-key.ts'
import { isKnownKey } from '../../areas/ssh-keys/queries.ts'
import type { Db } from '../../db/db.ts'
import type { SshLimits } from './limits.ts'

/** Whoever it is, the key tells; so all come by one name. */
const userName = 'git'

/**
 * Answers attempts to sign in: public keys that somebody has, and nothing else. Resolves with the SHA-256 of the key once
 * its possession is proved; whose it is, and whether he may act, is asked again for every command.
 */
export function signIn(
  connection: ssh2.Connection,
  { db, log }: { db: Db; log: Logger },
  limits: SshLimits,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let refused = 0
  const refuse = (attempt: ssh2.AuthContext) => {
    if (++refused >= limits.attempts) return connection.end()
    attempt.reject(['publickey'])
  }
  connection.on('authentication', (attempt) => {
    // By this, clients ask what there is to try.
    if (attempt.method === 'none') return attempt.reject(['publickey'])
    if (attempt.method !== 'publickey' || attempt.username !== userName) return refuse(attempt)
    const sha256 = sha256Of(attempt.key.data)
    isKnownKey(db, sha256).then(
      (known) => {
        if (!known || !isSound(attempt)) return refuse(attempt)
        // Without a signature it was only the question whether this key would do.
        if (attempt.signature) resolve(sha256)
        attempt.accept()
      },
      (error: unknown) => {
        log.error({ err: error }, 'a key could not be looked up')
        connection.end()
      },
    )
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
