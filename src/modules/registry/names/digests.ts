import { type Digest, parseDigest } from '../../../blobs/blob-store.ts'

/** `sha256:…` of a client; undefined for other algorithms, which the registry does not have. */
export const parsePrefixedDigest = (text: string): Digest | undefined =>
  text.startsWith('sha256:') ? parseDigest(text.slice('sha256:'.length)) : undefined

export const prefixed = (digest: string): string => `sha256:${digest}`
