import { type Digest, parseDigest } from '../../../blobs/blob-store.ts'
import type { Brand } from '../../../kernel/brand.ts'

/** SHA-512 of the bytes, 128 lower-case hex digits. */
type Sha512 = Brand<string, 'Sha512'>

/** How clients name layers and manifests: by SHA-256, as the blob store does, or by SHA-512. Hex digits, without the algorithm. */
export type ContentDigest = Digest | Sha512

const sha512 = /^[0-9a-f]{128}$/

/** `sha256:…` or `sha512:…` of a client; undefined for other algorithms, which the registry does not have. */
export function parsePrefixedDigest(text: string): ContentDigest | undefined {
  if (text.startsWith('sha256:')) return parseDigest(text.slice('sha256:'.length))
  const hex = text.startsWith('sha512:') ? text.slice('sha512:'.length) : ''
  return sha512.test(hex) ? (hex as Sha512) : undefined
}

/** Whether the blob store names the bytes by this digest. */
export const isSha256 = (digest: ContentDigest): digest is Digest => digest.length === 64

export const algorithmOf = (digest: ContentDigest): 'sha256' | 'sha512' => (isSha256(digest) ? 'sha256' : 'sha512')

export const prefixed = (digest: ContentDigest): string => `${algorithmOf(digest)}:${digest}`
