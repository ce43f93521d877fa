import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Db } from '../db/db.ts'
import { sharedResult } from '../kernel/shared-result.ts'
import {
  type BlobStore,
  DamagedBlob,
  type Digest,
  type FoundBlob,
  type LinkedAs,
  type StoredBlob,
  unavailable,
} from './blob-store.ts'
import { s3Address, storeName } from './location.ts'
import {
  beginObject,
  claimUnfinished,
  findObject,
  forgetObject,
  isUploading,
  leaveDigest,
  leaveObject,
  refreshObject,
  renewObject,
  storedObjects,
  storeObject,
  unknownAmong,
} from './queries.ts'
import { S3Objects, type S3Times } from './s3-client.ts'
import { probe } from './s3-probe.ts'
import { upload } from './s3-upload.ts'
import { verified } from './verified-body.ts'

const page = 1000

/** Other objects below the prefix are not ours: a bucket without a prefix may have more users. */
const isOwnKey = (key: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(key)

/** How often a long upload shows that it goes on, in milliseconds: much less than what tidying spares. */
const renewMs = 10 * 60_000

/** How long an answer of the store counts for readiness, in milliseconds. */
const pingMs = 5_000

/**
 * Stores blobs in object storage. Each object has a key of its own, and the database says which object is the blob of a digest:
 * the decision to keep or to delete one is a single statement, so that no store has to compare before it deletes
 * (docs/adr/0030).
 */
export class S3Blobs implements BlobStore {
  readonly #objects: S3Objects
  readonly #store: string
  readonly #db: Db
  /** The result is kept for a few seconds. */
  readonly #pinged = sharedResult(() => this.#objects.ping(), pingMs)

  constructor(url: string, db: Db, times?: S3Times) {
    this.#objects = new S3Objects(s3Address(url), times)
    this.#store = storeName(url)
    this.#db = db
  }

  async put(source: Readable, expected?: StoredBlob): Promise<StoredBlob> {
    const key = randomUUID()
    let renewed = performance.now()
    const blob = await upload(this.#objects, key, source, expected, {
      begin: () => beginObject(this.#db, this.#store, key),
      goOn: async () => {
        if (performance.now() - renewed < renewMs) return true
        renewed = performance.now()
        return renewObject(this.#db, key)
      },
      undone: () => forgetObject(this.#db, key),
    })
    await this.#settle(key, blob)
    return blob
  }

  /** Makes a complete object the blob of its digest, or removes it if there is another. */
  async #settle(key: string, blob: StoredBlob): Promise<void> {
    for (;;) {
      // From here on, collection spares the other object, if there is one.
      const other = await refreshObject(this.#db, this.#store, blob.digest)
      if (other !== undefined) {
        if ((await this.#objects.size(other)) === blob.sizeBytes) return this.#discard(key)
        // The row is of a backup, or the object was deleted by other hands.
        await leaveObject(this.#db, other, 'stored')
      }
      const outcome = await storeObject(this.#db, key, blob)
      if (outcome === 'stored') return
      if (outcome === 'gone') {
        await this.#objects.remove(key)
        throw unavailable(new Error('the upload had stopped for so long that tidying took it for the rest of a crash'))
      }
    }
  }

  async #discard(key: string): Promise<void> {
    await leaveObject(this.#db, key, 'uploading')
    // The blob is stored, whatever becomes of this copy; what fails, tidying repeats.
    await this.#remove(key).catch(() => {})
  }

  async #remove(key: string): Promise<void> {
    await this.#objects.remove(key)
    await forgetObject(this.#db, key)
  }

  async get(
    digest: Digest,
    range?: { start: number; end: number },
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<FoundBlob | undefined> {
    const object = await this.#find(digest, (key) => this.#objects.get(key, range, signal))
    if (!object) return undefined
    const { row, found } = object
    const length = range ? range.end - range.start + 1 : row.size
    if (found.length !== undefined && found.length !== length) {
      found.body.destroy()
      throw unavailable(new DamagedBlob(`the object ${row.key} has ${found.length} bytes instead of ${length}`))
    }
    const { stalledMs } = this.#objects.times
    const body = verified(found.body, { length, digest: range ? undefined : digest, stalledMs })
    return { sizeBytes: row.size, body }
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.size(digest)) !== undefined
  }

  async size(digest: Digest): Promise<number | undefined> {
    return (await this.#find(digest, (key) => this.#objects.size(key)))?.found
  }

  /** What `ask` finds of the object of a digest. Another object may replace it meanwhile. */
  async #find<T>(digest: Digest, ask: (key: string) => Promise<T | undefined>) {
    let row = await findObject(this.#db, this.#store, digest)
    while (row) {
      const found = await ask(row.key)
      if (found !== undefined) return { row, found }
      const now = await findObject(this.#db, this.#store, digest)
      if (now?.key === row.key) return undefined
      row = now
    }
    return undefined
  }

  async delete(digest: Digest, { unlessStoredSince }: { unlessStoredSince?: Date } = {}): Promise<boolean> {
    const key = await leaveDigest(this.#db, this.#store, digest, unlessStoredSince)
    if (key === undefined) return false
    await this.#remove(key)
    return true
  }

  async tidy(before: Date): Promise<void> {
    for await (const { key, uploadId, initiated } of this.#objects.unfinished()) {
      if (!isOwnKey(key) || initiated === undefined || initiated >= before) continue
      // The claim below takes those that have not gone on for long.
      if (!(await isUploading(this.#db, key, before))) await this.#objects.abort(key, uploadId)
    }
    for (;;) {
      const keys = await claimUnfinished(this.#db, this.#store, before, page)
      for (const key of keys) await this.#remove(key)
      if (keys.length < page) return
    }
  }

  async *list(begin = ''): AsyncIterable<StoredBlob & { readonly storedAt: Date }> {
    let after = begin
    for (;;) {
      const rows = await storedObjects(this.#db, this.#store, after, page)
      for (const { digest, size, changed_at } of rows) yield { digest, sizeBytes: size, storedAt: new Date(changed_at) }
      if (rows.length < page) return
      after = rows.at(-1)!.digest
    }
  }

  async needsChecks(): Promise<boolean> {
    return false
  }

  async link(digest: Digest, as: LinkedAs): Promise<string | undefined> {
    const row = await findObject(this.#db, this.#store, digest)
    return row && (await this.#objects.link(row.key, as))
  }

  /** Asks the store at most every few seconds. */
  ping(): Promise<void> {
    return this.#pinged()
  }

  probe(): Promise<void> {
    return probe(this.#objects)
  }

  async countUnknown(): Promise<number> {
    let count = 0
    for await (const keys of this.#objects.keys()) count += (await unknownAmong(this.#db, keys.filter(isOwnKey))).length
    return count
  }
}
