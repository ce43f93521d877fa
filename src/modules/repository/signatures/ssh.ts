import { createPublicKey, hash, verify } from 'node:crypto'
import { createRequire } from 'node:module'
import { sha256Of } from '../../accounts/index.ts'

const load = createRequire(import.meta.url)
/** Loaded on first use, because most processes verify no signature. */
const library = (): typeof import('ssh2') => load('ssh2')

/** A signature in the format of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig). */
export type SshSignature = {
  /** SHA-256 of the key, as in `ssh_keys`. */
  readonly fingerprint: string
  readonly hashAlgorithm: 'sha256' | 'sha512'
  readonly algorithm: string
  readonly signature: Buffer
}

const armor = /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/
/** Maximum characters; longer signatures are not parsed. */
const maximumLength = 16 * 1024
const magic = 'SSHSIG'
const version = 1
const namespace = 'git'

/** `undefined` if it is malformed, has more than one signature, or was not made for git. */
export function parseSshSignature(armored: string): SshSignature | undefined {
  const encoded = armored.length > maximumLength ? undefined : armor.exec(armored)?.[1]
  if (encoded === undefined) return undefined
  const blob = Buffer.from(encoded, 'base64')
  if (blob.toString('latin1', 0, magic.length) !== magic || blob.length < magic.length + 4) return undefined
  if (blob.readUInt32BE(magic.length) !== version) return undefined
  const parts = readStrings(blob.subarray(magic.length + 4))
  const [key, purpose, , hashAlgorithm, signed] = parts ?? []
  const inner = signed && readStrings(signed)
  if (!key || parts?.length !== 5 || inner?.length !== 2 || purpose?.toString('latin1') !== namespace) return undefined
  const name = hashAlgorithm?.toString('latin1')
  if (name !== 'sha256' && name !== 'sha512') return undefined
  return {
    fingerprint: sha256Of(key),
    hashAlgorithm: name,
    algorithm: inner[0]!.toString('latin1'),
    signature: inner[1]!,
  }
}

/** Whether this key, in the format of `ssh_keys`, signed these bytes. */
export function verifiesSsh(given: SshSignature, keyText: string, payload: Buffer): boolean {
  const scheme = schemes[given.algorithm]
  const key = library().utils.parseKey(keyText)
  if (!scheme || key instanceof Error || key.type !== scheme.keyType) return false
  const signature = scheme.derEncoded ? derOf(given.signature) : given.signature
  const signed = Buffer.concat([
    Buffer.from(magic),
    ...[
      Buffer.from(namespace),
      Buffer.alloc(0),
      Buffer.from(given.hashAlgorithm),
      hash(given.hashAlgorithm, payload, 'buffer'),
    ].flatMap((part) => [lengthOf(part), part]),
  ])
  try {
    return signature !== undefined && verify(scheme.digest, signed, createPublicKey(key.getPublicPEM()), signature)
  } catch {
    return false
  }
}

type Scheme = { readonly keyType: string; readonly digest: string | null; readonly derEncoded?: true }

/** Schemes of the key types that users may add; excludes SHA-1. */
const schemes: Readonly<Record<string, Scheme>> = {
  'ssh-ed25519': { keyType: 'ssh-ed25519', digest: null },
  'rsa-sha2-256': { keyType: 'ssh-rsa', digest: 'sha256' },
  'rsa-sha2-512': { keyType: 'ssh-rsa', digest: 'sha512' },
  'ecdsa-sha2-nistp256': { keyType: 'ecdsa-sha2-nistp256', digest: 'sha256', derEncoded: true },
  'ecdsa-sha2-nistp384': { keyType: 'ecdsa-sha2-nistp384', digest: 'sha384', derEncoded: true },
  'ecdsa-sha2-nistp521': { keyType: 'ecdsa-sha2-nistp521', digest: 'sha512', derEncoded: true },
}

/** Parses byte strings, each after its length, without trailing bytes. */
function readStrings(bytes: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length || parts.length === maxParts) return undefined
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return undefined
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  return parts
}

const maxParts = 5

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(part.length)
  return length
}

/** Converts an ECDSA signature: SSH writes the two numbers after their lengths, X9.62 as a sequence of integers. */
function derOf(signature: Buffer): Buffer | undefined {
  const numbers = readStrings(signature)
  if (numbers?.length !== 2 || numbers.some(({ length }) => length === 0 || length > maxNumberBytes)) return undefined
  const content = Buffer.concat(numbers.flatMap((number) => [Buffer.from([0x02, number.length]), number]))
  return Buffer.concat([
    Buffer.from(content.length < 0x80 ? [0x30, content.length] : [0x30, 0x81, content.length]),
    content,
  ])
}

/** Length of a P-521 number with a leading zero. */
const maxNumberBytes = 67
