import { createPublicKey, hash, type JsonWebKeyInput } from 'node:crypto'
import { withoutTrailing } from '../../../kernel/without-ends.ts'

export type KeyType = 'rsa' | 'dsa' | 'ecdsa' | 'ed25519'

/** A public key in the format of `~/.ssh/id_….pub`. */
export type PublicKey = {
  readonly type: KeyType
  readonly bits: number
  /** One line: type, base64 and, if present, the comment. */
  readonly text: string
  /** Pairs of hex digits with colons. */
  readonly md5: string
  /** Base64 without padding, as `ssh-keygen -l` shows it after `SHA256:`. */
  readonly sha256: string
}

/** Maximum characters of a key; longer texts are refused unread. */
export const maximumKeyLength = 5000

/** Fingerprint by which keys are found: SHA-256 of the blob in base64 without padding. */
export const sha256Of = (blob: Buffer): string => withoutTrailing(hash('sha256', blob, 'base64'), '=')

const md5Of = (blob: Buffer): string => hash('md5', blob, 'hex').replace(/..(?!$)/g, '$&:')

/**
 * Parses `<type> <base64> [comment]`. Removes blanks and line breaks within the base64 and collapses those in the
 * comment. `undefined` for anything but a complete, valid key of a known type, and if the two types differ.
 */
export function parsePublicKey(text: string): PublicKey | undefined {
  if (text.length > maximumKeyLength) return undefined
  const [name, ...words] = text.trim().split(/\s+/)
  let encoded = ''
  for (const [index, word] of words.entries()) {
    encoded += word
    const blob = decodeBase64(encoded)
    const shape = blob && blob.length >= minBlobBytes ? readBlob(blob) : undefined
    if (!blob || !shape || shape.name !== name) continue
    const comment = words
      .slice(index + 1)
      .join(' ')
      .replaceAll(/\p{Cc}/gu, '')
    return {
      type: shape.type,
      bits: shape.bits,
      text: [name, encoded, ...(comment === '' ? [] : [comment])].join(' '),
      md5: md5Of(blob),
      sha256: sha256Of(blob),
    }
  }
  return undefined
}

/** Length of an Ed25519 blob. */
const minBlobBytes = 51

/** Strict: refuses other encodings of the same bytes, so that the stored key equals the one that clients compare. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = text.length % 4 === 0 ? Buffer.from(text, 'base64') : undefined
  return bytes?.toString('base64') === text ? bytes : undefined
}

type Shape = { name: string; type: KeyType; bits: number }

/** RFC 4253, 5656 and 8709: a name and numbers, each after its length, without trailing bytes. */
function readBlob(blob: Buffer): Shape | undefined {
  const parts: Buffer[] = []
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length || parts.length === maxParts) return undefined
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return undefined
    parts.push(blob.subarray(at + 4, end))
    at = end
  }
  const [name = Buffer.alloc(0), ...numbers] = parts
  const shape = shapeOf(name.toString('latin1'), numbers)
  return shape && { name: name.toString('latin1'), ...shape }
}

/** A DSA key has a name and four numbers. */
const maxParts = 5

function shapeOf(name: string, numbers: readonly Buffer[]): Omit<Shape, 'name'> | undefined {
  const [first, second] = numbers
  switch (name) {
    case 'ssh-rsa':
      return first && second && numbers.length === 2 ? rsa(first, second) : undefined
    case 'ssh-dss':
      return numbers.length === 4 && numbers.every(isPositive) ? { type: 'dsa', bits: bitLength(first!) } : undefined
    case 'ssh-ed25519':
      return numbers.length === 1 && first!.length === 32 ? { type: 'ed25519', bits: 256 } : undefined
    default: {
      const curve = /^ecdsa-sha2-(nistp(?:256|384|521))$/.exec(name)?.[1]
      const sound = curve !== undefined && numbers.length === 2 && first!.toString('latin1') === curve
      return sound ? ecdsa(curve, second!) : undefined
    }
  }
}

/** Limit of OpenSSH; verification with larger keys costs the server more than the client. */
const maxRsaBits = 16_384

function rsa(exponent: Buffer, modulus: Buffer): Omit<Shape, 'name'> | undefined {
  const bits = bitLength(modulus)
  const sound = [exponent, modulus].every(isPositive) && isOdd(exponent) && isOdd(modulus) && bits <= maxRsaBits
  if (!sound || bitLength(exponent) < 2) return undefined
  return isKey({ kty: 'RSA', e: exponent.toString('base64url'), n: modulus.toString('base64url') })
    ? { type: 'rsa', bits }
    : undefined
}

const curves: Readonly<Record<string, { crv: string; bits: number }>> = {
  nistp256: { crv: 'P-256', bits: 256 },
  nistp384: { crv: 'P-384', bits: 384 },
  nistp521: { crv: 'P-521', bits: 521 },
}

/** Reads the point in the uncompressed format of X9.62; the library checks that it lies on the curve. */
function ecdsa(curve: string, point: Buffer): Omit<Shape, 'name'> | undefined {
  const { crv, bits } = curves[curve]!
  const size = Math.ceil(bits / 8)
  if (point.length !== 1 + 2 * size || point[0] !== 4) return undefined
  const x = point.subarray(1, 1 + size).toString('base64url')
  const y = point.subarray(1 + size).toString('base64url')
  return isKey({ kty: 'EC', crv, x, y }) ? { type: 'ecdsa', bits } : undefined
}

function isKey(key: JsonWebKeyInput['key']): boolean {
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

/** Numbers are signed: a leading one bit makes them negative. */
const isPositive = (number: Buffer): boolean => number.length > 0 && number[0]! < 0x80 && bitLength(number) > 0

const isOdd = (number: Buffer): boolean => (number.at(-1)! & 1) === 1

function bitLength(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (number.length - first) * 8 - Math.clz32(number[first]!) + 24
}
