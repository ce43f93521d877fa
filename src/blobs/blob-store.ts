import type { Readable } from 'node:stream'
import type { Brand } from '../kernel/brand.ts'

/** SHA-256 of the bytes, 64 lower-case hex digits. */
export type Digest = Brand<string, 'Digest'>

export const parseDigest = (text: string): Digest | undefined =>
  /^[0-9a-f]{64}$/.test(text) ? (text as Digest) : undefined

export type StoredBlob = { readonly digest: Digest; readonly sizeBytes: number }

/**
 * Bytes by their digest. What is stored is whole and lasts before its digest is told, so a row that names a digest never
 * points at nothing; bytes that no row names are garbage, which a collection may take after a time of grace.
 */
export interface BlobStore {
  /**
   * Stores a stream, reading it once. Storing the same bytes again refreshes their age. Bytes of a broken stream are
   * forgotten, and so are, with an `unprocessable` failure, bytes that are not those `expected`; of too many no more is read
   * than tells.
   */
  put(source: Readable, expected?: StoredBlob): Promise<StoredBlob>
  /** `undefined` when there is none. `start` and `end` (both included) cut a part out. */
  get(
    digest: Digest,
    range?: { start: number; end: number },
  ): Promise<{ sizeBytes: number; body: Readable } | undefined>
  has(digest: Digest): Promise<boolean>
  /** In bytes; `undefined` when there is none. */
  size(digest: Digest): Promise<number | undefined>
  /**
   * False when there was none, or when somebody stored it at `unlessStoredSince` or later, be it at this very moment:
   * then it stays, and whoever stored it may rely on it.
   */
  delete(digest: Digest, options?: { unlessStoredSince?: Date }): Promise<boolean>
  /** Every blob with the time it was last stored, in no order. */
  list(): AsyncIterable<StoredBlob & { readonly storedAt: Date }>
  /** Clears away what crashes left half done; what began after `before` may still be under way. For one caller at a time. */
  tidy(before: Date): Promise<void>
}
