import type { Readable } from 'node:stream'
import type { Brand } from '../kernel/brand.ts'
import { Failure } from '../kernel/failure.ts'

/** SHA-256 of the bytes, 64 lower-case hex digits. */
export type Digest = Brand<string, 'Digest'>

export const parseDigest = (text: string): Digest | undefined =>
  /^[0-9a-f]{64}$/.test(text) ? (text as Digest) : undefined

export type StoredBlob = { readonly digest: Digest; readonly sizeBytes: number }

export type FoundBlob = { readonly sizeBytes: number; readonly body: Readable }

/** How a linked download reads: the link fixes both headers. */
export type LinkedAs = { readonly contentType: string; readonly disposition: string }

/** Why a blob whose bytes were announced is refused. */
export const unexpected = (): Failure =>
  new Failure('unprocessable', 'The content does not have the size and digest that were announced')

const retryAfterSeconds = 10

/** The failure of a request that a store did not answer, or refused. The cause is for the log and for operators. */
export class StoreUnavailable extends Failure {
  override name = 'StoreUnavailable'

  constructor(cause: unknown) {
    super('unavailable', 'The storage of large files and pictures is unavailable. Retry later.', {
      cause,
      retryAfterSeconds,
    })
  }

  /** What the store answered, in a line. */
  get reason(): string {
    const { name, message, $metadata } = this.cause as Error & { $metadata?: { httpStatusCode?: number } }
    const status = $metadata?.httpStatusCode
    const text = name === 'Error' || message.startsWith(name) ? message : `${name}: ${message}`
    return status === undefined ? text : `${text} (status ${status})`
  }

  /** Whether it did not answer, or said that it fails, rather than refused the request. */
  get isUnanswered(): boolean {
    const { name, code, $metadata } = this.cause as NodeJS.ErrnoException & { $metadata?: { httpStatusCode?: number } }
    const status = $metadata?.httpStatusCode
    return status === undefined ? name === 'TimeoutError' || connectionFails.has(code ?? '') : status >= 500
  }
}

const connectionFails: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

export const unavailable = (cause: unknown): Failure => new StoreUnavailable(cause)

/** A store has other bytes than it was given. Repeating the request does not help. */
export class DamagedBlob extends Error {
  override name = 'DamagedBlob'
}

/**
 * Content-addressed storage. A blob is complete and durable before `put` resolves, so a row that names a digest never refers to
 * a missing blob. A blob that no row names is garbage, which a collection may delete after a grace period. While a store cannot be
 * reached, every method fails with `unavailable`.
 */
export interface BlobStore {
  /**
   * Stores a stream, reading it once. Storing the same bytes again refreshes their age. Discards the bytes if the stream
   * breaks. Fails with `unprocessable` if size or digest differ from `expected`, and stops reading at the first byte beyond the
   * expected size.
   */
  put(source: Readable, expected?: StoredBlob): Promise<StoredBlob>
  /**
   * Takes a complete, synced file whose size and digest the caller has computed while writing it, without copying it where that is
   * possible. The file is gone afterwards. `putFile` calls it. Stores that cannot take files lack it.
   */
  adopt?(path: string, blob: StoredBlob): Promise<void>
  /**
   * `undefined` if the blob does not exist. `start` and `end` are inclusive byte offsets. The size is what the store has, and the body fails
   * rather than be shorter; whole bodies also fail, before their last chunk, if they have another digest. `signal` ends waiting for the
   * store.
   */
  get(
    digest: Digest,
    range?: { start: number; end: number },
    options?: { signal?: AbortSignal },
  ): Promise<FoundBlob | undefined>
  /**
   * Calls `write` for each part of a range, one after the other: several times faster than a stream for large blobs, because the same
   * memory is used again once `write` resolves. False if the blob does not exist. Stores that only have streams lack it. Verifies no
   * digest: it is for clients that verify themselves, as those of LFS and of the registry do.
   */
  copyTo?(
    digest: Digest,
    range: { start: number; end: number },
    write: (chunk: Buffer) => Promise<void>,
    options?: { signal?: AbortSignal },
  ): Promise<boolean>
  /** Asks the store itself, as `size` does. */
  has(digest: Digest): Promise<boolean>
  /** In bytes; `undefined` if the blob does not exist. */
  size(digest: Digest): Promise<number | undefined>
  /**
   * False if the blob does not exist, or if it was stored at `unlessStoredSince` or later, even concurrently with this call:
   * then it is not deleted, so that the caller that stored it may rely on it.
   */
  delete(digest: Digest, options?: { unlessStoredSince?: Date }): Promise<boolean>
  /** Every blob, or those after a digest, with the time it was last stored, in the order of the digests. */
  list(after?: Digest): AsyncIterable<StoredBlob & { readonly storedAt: Date }>
  /**
   * Whether damage is found only by reading: object storage verifies what it has, and charges for what is read. `later`: a move is running, which
   * reads everything, and until whose end `list` has nothing.
   */
  needsChecks(): Promise<boolean | 'later'>
  /**
   * Removes what crashes left unfinished. Files younger than `before` may still be in use and stay. Must not run concurrently
   * with itself.
   */
  tidy(before: Date): Promise<void>
  /**
   * A URL from which anyone can GET the whole blob or a part for two minutes, and nothing else. `undefined` if the store has none,
   * or not this blob.
   */
  link(digest: Digest, as: LinkedAs): Promise<string | undefined>
  /** Fails if the store cannot be reached or refuses its credentials. */
  ping(): Promise<void>
  /** Writes, reads and deletes a few bytes that are no blob. Fails with what does not work, for the operator. */
  probe(): Promise<void>
  /** The number of objects that were stored and are no blobs; 0 if none can be. */
  countUnknown(): Promise<number>
}
