import { generateKeyPairSync } from 'node:crypto'
import ssh2 from 'ssh2'

let count = 0

/** A new public key in the format of `ssh-keygen`. */
export const newPublicKey = (
  type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519',
  bits = type === 'rsa' ? 2048 : 256,
): string => {
  const comment = `key-${++count}@example.com`
  // ssh2 is not used here: it drops a leading zero byte, in one key of 256.
  if (type === 'ed25519') {
    const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
    return `ssh-ed25519 ${blobOf('ssh-ed25519', Buffer.from(x!, 'base64url')).toString('base64')} ${comment}`
  }
  if (type === 'ecdsa') return ssh2.utils.generateKeyPairSync('ecdsa', { bits: bits as 256, comment }).public
  const { n, e } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' })
  return `ssh-rsa ${blobOf('ssh-rsa', positive(e!), positive(n!)).toString('base64')} ${comment}`
}

/** The blob of a key: each part after its length. */
export const blobOf = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as Buffer)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )

const positive = (base64url: string): Buffer => Buffer.concat([Buffer.from([0]), Buffer.from(base64url, 'base64url')])
