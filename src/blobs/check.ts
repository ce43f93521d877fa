import { type BlobStore, DamagedBlob, type Digest, type StoredBlob } from './blob-store.ts'

/** What is wrong with a blob, as words that follow its name in a sentence. `undefined` if nothing is. */
export type BlobCheck = (digest: Digest, sizeBytes?: number) => Promise<string | undefined>

/** Asks the store for each blob once. `damaged` are the blobs of which `damagedIn` found other bytes. */
export const blobCheck =
  (blobs: BlobStore, damaged: ReadonlySet<Digest> = new Set()): BlobCheck =>
  async (digest, sizeBytes) => {
    const found = await blobs.size(digest)
    if (found === undefined) return 'is missing'
    if (sizeBytes !== undefined && found !== sizeBytes) return `has ${found} bytes instead of ${sizeBytes}`
    return damaged.has(digest) ? 'is damaged' : undefined
  }

/** A blob that a row names. */
export type NamedBlob<Key> = {
  /** Of the row, for the order of a walk. */
  readonly key: Key
  /** What it is, for messages: `project 7: its upload 3`. */
  readonly name: string
  readonly digest: Digest
  readonly sizeBytes?: number | undefined
}

/**
 * One sentence for each of the named blobs with which something is wrong. `next` returns some of those whose key is above `after`, in order; the first time
 * it gets a key below all.
 */
export async function problemsOf<Key>(
  check: BlobCheck,
  { first, next }: { readonly first: Key; readonly next: (after: Key) => Promise<readonly NamedBlob<Key>[]> },
): Promise<string[]> {
  const problems: string[] = []
  for (let after = first; ; ) {
    const named = await next(after)
    if (named.length === 0) return problems
    for (const { name, digest, sizeBytes } of named) {
      const problem = await check(digest, sizeBytes)
      if (problem !== undefined) problems.push(`${name} ${problem}`)
    }
    after = named.at(-1)!.key
  }
}

/** Blobs read at once, so that a store on the network is not waited for blob by blob. */
const atOnce = 4
const reportEvery = 10_000_000_000

/**
 * Reads everything in a store. Resolves to the blobs whose bytes are not those of their digest, or cannot be read from the disk. Fails with
 * `unavailable` if the store does not answer. `progress` gets a line for each 10 GB.
 */
export async function damagedIn(blobs: BlobStore, progress: (line: string) => void): Promise<ReadonlySet<Digest>> {
  const damaged = new Set<Digest>()
  const blobsInOrder = blobs.list()[Symbol.asyncIterator]()
  let [count, bytes, reported] = [0, 0, 0]
  const readOn = async () => {
    for (;;) {
      const { done, value } = await blobsInOrder.next()
      if (done) return
      if (await isDamaged(blobs, value)) damaged.add(value.digest)
      count++
      bytes += value.sizeBytes
      if (bytes < reported + reportEvery) continue
      reported = bytes
      progress(`read ${count} blobs (${(bytes / 1e9).toFixed(0)} GB)`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, readOn))
  return damaged
}

/** Hears of each blob that is damaged, and of each that could not be read for another reason. */
export type Findings = { damaged(digest: Digest): void; unread(digest: Digest, error: unknown): void }

/**
 * Reads the blobs after a digest, or the first ones, one after the other, until `ms` are over or there are no more; at least one. Returns the last
 * one that was read, or `undefined` if no further ones are left.
 */
export async function checkAfter(
  blobs: BlobStore,
  after: Digest | undefined,
  ms: number,
  findings: Findings,
): Promise<Digest | undefined> {
  const until = performance.now() + ms
  for await (const blob of blobs.list(after)) {
    try {
      if (await isDamaged(blobs, blob)) findings.damaged(blob.digest)
    } catch (error) {
      findings.unread(blob.digest, error)
    }
    if (performance.now() >= until) return blob.digest
  }
  return undefined
}

async function isDamaged(blobs: BlobStore, { digest }: StoredBlob): Promise<boolean> {
  try {
    const found = await blobs.get(digest)
    if (found) for await (const _chunk of found.body);
    return false
  } catch (error) {
    const { cause, code } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException }
    if (cause instanceof DamagedBlob || cause?.code === 'EIO' || code === 'EIO') return true
    throw error
  }
}
