import type { Readable } from 'node:stream'
import type { Database } from '../db/db.ts'
import { deleteFiles } from '../db/held-files.ts'
import type { Notifications } from '../db/notifications.ts'
import type { BlobStore, Digest, FoundBlob, LinkedAs, StoredBlob } from './blob-store.ts'
import { currentLocation } from './current-location.ts'
import { openStore } from './open.ts'
import { putFile } from './put-file.ts'
import type { Location } from './queries.ts'

/** Maximum age of what a process knows about the location, in milliseconds. */
export const maximumAgeMs = 900

/** Where blobs are now. */
type Stores = {
  readonly location: Location
  /** Where new blobs go. */
  readonly target: BlobStore
  /** Where blobs may be, the target first. */
  readonly sources: readonly BlobStore[]
}

export type LocatedOptions = {
  /** The setting. It names the store until a move, and how to reach that store if both name the same. */
  readonly configured: string
  readonly notifications?: Notifications
  /** Whether clients may be sent to a link of the store. */
  readonly mayLink?: (link: URL) => boolean
}

/**
 * The blobs of the installation, wherever they are: in the store of the setting, or in the one to which `stithy blobs move` has
 * moved them. During a move new blobs go to the new store, and reads try it first. A process that has not noticed a change yet
 * still loses nothing: before `put` resolves it asks the database, and brings the blob to the store that is the target now.
 */
export class LocatedBlobs implements BlobStore {
  readonly #db: Database
  readonly #configured: string
  readonly #mayLink: (link: URL) => boolean
  readonly #opened = new Map<string, Promise<BlobStore>>()
  #cached: Promise<Stores> | undefined
  #readAt = 0

  constructor(db: Database, { configured, notifications, mayLink = () => true }: LocatedOptions) {
    this.#db = db
    this.#configured = configured
    this.#mayLink = mayLink
    notifications?.onChange((topic) => {
      if (topic === undefined || topic === 'blobs') this.#cached = undefined
    })
  }

  async put(source: Readable, expected?: StoredBlob): Promise<StoredBlob> {
    // The store reports it. Until it reads, an error without a listener would end the process.
    source.on('error', () => {})
    const { target } = await this.#stores().catch((error) => {
      source.destroy()
      throw error
    })
    const blob = await target.put(source, expected)
    await this.#bringToTarget(blob, target)
    return blob
  }

  async adopt(path: string, blob: StoredBlob): Promise<void> {
    const { target } = await this.#stores()
    await putFile(target, path, blob)
    await this.#bringToTarget(blob, target)
  }

  /** Copies a blob that was just stored `there` to the store that is the target now, if it is another one. */
  async #bringToTarget(blob: StoredBlob, there: BlobStore): Promise<void> {
    for (let target = there; ; ) {
      const now = (await this.#read()).target
      if (now === target) return
      const found = await target.get(blob.digest)
      // It is young, so that only the other store, to which all has been moved, can have it if this one does not.
      if (found) await now.put(found.body, blob)
      else if ((await now.size(blob.digest)) !== blob.sizeBytes) throw new Error(`the blob ${blob.digest} is missing`)
      target = now
    }
  }

  get(
    digest: Digest,
    range?: { start: number; end: number },
    options?: { signal?: AbortSignal },
  ): Promise<FoundBlob | undefined> {
    return this.#ask((store) => store.get(digest, range, options))
  }

  async copyTo(
    digest: Digest,
    range: { start: number; end: number },
    write: (chunk: Buffer) => Promise<void>,
    options?: { signal?: AbortSignal },
  ): Promise<boolean> {
    // Another store is no help once writing has begun.
    const store = await this.#ask(async (each) => ((await each.has(digest)) ? each : undefined))
    if (!store) return false
    if (store.copyTo) return store.copyTo(digest, range, write, options)
    const blob = await store.get(digest, range, options)
    if (!blob) return false
    for await (const chunk of blob.body as AsyncIterable<Buffer>) await write(chunk)
    return true
  }

  has(digest: Digest): Promise<boolean> {
    return this.#ask(async (store) => (await store.has(digest)) || undefined).then((found) => found === true)
  }

  size(digest: Digest): Promise<number | undefined> {
    return this.#ask((store) => store.size(digest))
  }

  async link(digest: Digest, as: LinkedAs): Promise<string | undefined> {
    // Without a link the caller reads the blob, which finds it wherever it is.
    for (const store of (await this.#stores()).sources) {
      const link = await store.link(digest, as)
      if (link !== undefined) return this.#mayLink(new URL(link)) ? link : undefined
    }
    return undefined
  }

  /** False during a move, which copies garbage, too, for a day after it, and while a backup runs. */
  async delete(digest: Digest, options?: { unlessStoredSince?: Date }): Promise<boolean> {
    const { target, location } = await this.#read()
    if (location.moving_to !== null || location.just_moved) return false
    const deleted = await deleteFiles(
      (work) => this.#db.transaction(work),
      () => target.delete(digest, options),
    )
    return deleted === true
  }

  /** Nothing during a move. */
  async *list(after?: Digest): AsyncIterable<StoredBlob & { readonly storedAt: Date }> {
    const { target, location } = await this.#read()
    if (location.moving_to === null) yield* target.list(after)
  }

  /** Every blob, also during a move, in the order of the digests. */
  async *listAll(): AsyncIterable<StoredBlob> {
    const lists = (await this.#read()).sources.map((store) => store.list()[Symbol.asyncIterator]())
    const heads = await Promise.all(lists.map((list) => list.next()))
    for (;;) {
      const least = heads.reduce<StoredBlob | undefined>(
        (found, { done, value }) => (done || (found && found.digest <= value.digest) ? found : value),
        undefined,
      )
      if (!least) return
      yield { digest: least.digest, sizeBytes: least.sizeBytes }
      for (const [index, { done, value }] of heads.entries())
        if (!done && value.digest === least.digest) heads[index] = await lists[index]!.next()
    }
  }

  async needsChecks(): Promise<boolean | 'later'> {
    const { target, location } = await this.#read()
    return location.moving_to === null ? target.needsChecks() : 'later'
  }

  async tidy(before: Date): Promise<void> {
    for (const store of (await this.#read()).sources) await store.tidy(before)
  }

  async ping(): Promise<void> {
    for (const store of (await this.#stores()).sources) await store.ping()
  }

  async probe(): Promise<void> {
    for (const store of (await this.#read()).sources) await store.probe()
  }

  /** The number of objects of which the database knows nothing, in all stores. */
  async countUnknown(): Promise<number> {
    let count = 0
    for (const store of (await this.#read()).sources) count += await store.countUnknown()
    return count
  }

  /** The first answer that is not undefined. A blob that is found nowhere may have been moved, or stored elsewhere, just now. */
  async #ask<T>(ask: (store: BlobStore) => Promise<T | undefined>): Promise<T | undefined> {
    let stores = await this.#stores()
    for (;;) {
      let failed: unknown
      for (const store of stores.sources) {
        try {
          const found = await ask(store)
          if (found !== undefined) return found
        } catch (error) {
          // The other store of a move may have it.
          failed ??= error
        }
      }
      if (failed !== undefined) throw failed
      const now = await this.#read()
      if (isSameLocation(now.location, stores.location)) return undefined
      stores = now
    }
  }

  #stores(): Promise<Stores> {
    const now = performance.now()
    if (this.#cached && now - this.#readAt < maximumAgeMs) return this.#cached
    return this.#read()
  }

  /** Reads the location from the database. */
  #read(): Promise<Stores> {
    const read = this.#resolve()
    this.#readAt = performance.now()
    this.#cached = read
    read.catch(() => {
      if (this.#cached === read) this.#cached = undefined
    })
    return read
  }

  async #resolve(): Promise<Stores> {
    const location = await currentLocation(this.#db, this.#configured)
    const urls = location.moving_to === null ? [location.url] : [location.moving_to, location.url]
    const sources = await Promise.all(urls.map((url) => this.#open(url)))
    return { location, target: sources[0]!, sources }
  }

  /** The same object for the same URL. */
  #open(url: string): Promise<BlobStore> {
    let opened = this.#opened.get(url)
    if (!opened) {
      opened = openStore(url, this.#db)
      this.#opened.set(url, opened)
    }
    return opened
  }
}

const isSameLocation = (one: Location, other: Location): boolean =>
  one.url === other.url && one.moving_to === other.moving_to
