import type { Readable } from 'node:stream'
import { Failure } from '../kernel/failure.ts'
import { SharedSlots } from '../kernel/shares.ts'
import type { BlobStore, Digest, FoundBlob, LinkedAs, StoredBlob } from './blob-store.ts'

export type DownloadLimits = {
  /** Downloads at a time, each with an open file or a connection to the store, and half a MiB. */
  readonly slots: number
  readonly maxWaiting: number
  /** Maximum time that a download waits, in milliseconds: what its caller may read was decided before. */
  readonly waitMs: number
}

const usualLimits: DownloadLimits = { slots: 240, maxWaiting: 2_000, waitMs: 10_000 }

const retryAfterSeconds = 10

/** The downloads of a process. A client that stops reading holds its slot until it is disconnected; no caller can take all slots. */
export class Downloads {
  readonly #slots: SharedSlots
  readonly #waitMs: number

  constructor(limits: Partial<DownloadLimits> = {}) {
    const { slots, maxWaiting, waitMs } = { ...usualLimits, ...limits }
    this.#slots = new SharedSlots('room for downloads', { slots, maxWaiting })
    this.#waitMs = waitMs
  }

  /** The same store, whose reads use the caller's share. */
  of(blobs: BlobStore, caller: string, signal: AbortSignal | undefined): BlobStore {
    return caller === '' ? blobs : new BlobsOfCaller(blobs, (other) => this.#enter(caller, other ?? signal))
  }

  async #enter(caller: string, signal: AbortSignal | undefined): Promise<() => void> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(tooLate()), this.#waitMs)
    try {
      return await this.#slots.enter(caller, signal ? AbortSignal.any([signal, late.signal]) : late.signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

const tooLate = (): Failure =>
  new Failure('rate_limited', 'Too many of your downloads are running. Retry later.', { retryAfterSeconds })

type Read = { readonly signal?: AbortSignal }

/** A blob is open only while it has a slot. What needs none is passed on. */
class BlobsOfCaller implements BlobStore {
  readonly #blobs: BlobStore
  readonly #enter: (signal: AbortSignal | undefined) => Promise<() => void>
  readonly adopt?: NonNullable<BlobStore['adopt']>
  readonly copyTo?: NonNullable<BlobStore['copyTo']>

  constructor(blobs: BlobStore, enter: (signal: AbortSignal | undefined) => Promise<() => void>) {
    this.#blobs = blobs
    this.#enter = enter
    if (blobs.adopt) this.adopt = (path, blob) => blobs.adopt!(path, blob)
    if (blobs.copyTo) this.copyTo = (...of) => this.#copyTo(...of)
  }

  async get(
    digest: Digest,
    range?: { start: number; end: number },
    options: Read = {},
  ): Promise<FoundBlob | undefined> {
    const leave = await this.#enter(options.signal)
    let found: FoundBlob | undefined
    try {
      found = await this.#blobs.get(digest, range, options)
    } finally {
      if (!found) leave()
    }
    if (found?.body.closed) leave()
    else found?.body.once('close', leave)
    return found
  }

  async #copyTo(...[digest, range, write, options = {}]: Parameters<NonNullable<BlobStore['copyTo']>>) {
    const leave = await this.#enter(options.signal)
    try {
      return await this.#blobs.copyTo!(digest, range, write, options)
    } finally {
      leave()
    }
  }

  put(source: Readable, expected?: StoredBlob): Promise<StoredBlob> {
    return this.#blobs.put(source, expected)
  }

  has(digest: Digest): Promise<boolean> {
    return this.#blobs.has(digest)
  }

  size(digest: Digest): Promise<number | undefined> {
    return this.#blobs.size(digest)
  }

  delete(digest: Digest, options?: { unlessStoredSince?: Date }): Promise<boolean> {
    return this.#blobs.delete(digest, options)
  }

  list(after?: Digest): AsyncIterable<StoredBlob & { readonly storedAt: Date }> {
    return this.#blobs.list(after)
  }

  needsChecks(): Promise<boolean | 'later'> {
    return this.#blobs.needsChecks()
  }

  tidy(before: Date): Promise<void> {
    return this.#blobs.tidy(before)
  }

  link(digest: Digest, as: LinkedAs): Promise<string | undefined> {
    return this.#blobs.link(digest, as)
  }

  ping(): Promise<void> {
    return this.#blobs.ping()
  }

  probe(): Promise<void> {
    return this.#blobs.probe()
  }

  countUnknown(): Promise<number> {
    return this.#blobs.countUnknown()
  }
}
