import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../db/db.ts'
import { notify } from '../db/notifications.ts'
import { inMegabytes } from '../kernel/amounts.ts'
import { Failure } from '../kernel/failure.ts'
import { type BlobStore, DamagedBlob, type StoredBlob } from './blob-store.ts'
import { type Claimant, claimStore, requireOwnStore } from './claim.ts'
import { currentLocation, underSetting } from './current-location.ts'
import { maximumAgeMs } from './located.ts'
import { isSameStore, storeName } from './location.ts'
import { openStore } from './open.ts'
import { type Location, lockLocation, saveLocation } from './queries.ts'

/** Blobs that are copied at the same time. */
const atOnce = 4

/** Milliseconds between two lines of progress. */
const progressMs = 2_000

export type MoveOptions = {
  /** The setting, which says where blobs are until the first move. */
  readonly configured: string
  readonly to: string
  readonly progress: (line: string) => void
  /** Completes the move without blobs that are damaged or missing in the old store. */
  readonly skipDamaged: boolean
  readonly claimant: Claimant
}

/** What a move did, and the problems that prevented its completion. */
export type Moved = {
  readonly copied: number
  readonly copiedBytes: number
  /** One sentence for each blob that could not be copied, or that the database names and no store has. */
  readonly problems: readonly string[]
  /** False if problems prevented the switch: blobs are in both stores, and the move can be repeated. */
  readonly complete: boolean
  readonly from: string
}

/**
 * Moves all blobs to another store while the service uses them. Copies until a pass finds every blob in the new store, with its
 * size, and all that the database names; then the new store is the only one. Every copy is verified by its digest. May be interrupted at any time and repeated, and
 * turned round by a move to the old store. The old store keeps its blobs.
 */
export async function moveBlobs(
  db: Database,
  { configured, to, progress, skipDamaged, claimant }: MoveOptions,
): Promise<Moved> {
  const { installation, missingIn } = claimant
  const before = await currentLocation(db, configured)
  requireMovable(before, to)
  await requireOwnStore(before.url, installation)
  const target = await openStore(to, db)
  await target.probe()
  if (before.moving_to === null && !skipDamaged)
    await requireBlobs(await openStore(before.url, db), before.url, missingIn)
  await claimStore(db, to, claimant, { isOwn: isKnown(before, to) })
  const from = await beginMove(db, configured, to)
  const source = await openStore(from, db)
  // From then on no process writes to the old store without noticing.
  await pause(maximumAgeMs * 2)
  const copy = new Copy(source, target, progress)
  let copied = 0
  let problems: readonly string[] = []
  do {
    const earlier = copy.count
    problems = await copy.pass()
    copied = copy.count - earlier
  } while (copied > 0)
  // What the old store does not list is not copied: it may be a folder on a disk that is not mounted, or one that was restored in part.
  problems = [...problems, ...(await missingIn(target))]
  const complete = problems.length === 0 || skipDamaged
  if (complete) await endMove(db, configured, from, to)
  return { copied: copy.count, copiedBytes: copy.bytes, problems, complete, from: storeName(from) }
}

/** Fails if blobs cannot be moved there now. */
function requireMovable({ url, moving_to }: Location, to: string): void {
  if (moving_to === null && isSameStore(url, to))
    throw new Failure('conflict', `Blobs are already stored in ${storeName(to)}.`)
  if (moving_to !== null && !isSameStore(moving_to, to) && !isSameStore(url, to))
    throw new Failure(
      'conflict',
      `Blobs are being moved from ${storeName(url)} to ${storeName(moving_to)}. Complete that move, or move them back, first.`,
    )
}

/** Whether blobs have been moved there, or from there. */
const isKnown = ({ url, moving_to, moved_from }: Location, to: string): boolean =>
  [url, moving_to, moved_from].some((each) => each !== null && isSameStore(each, to))

/** Fails if a store has no blobs though the database names some. */
async function requireBlobs(store: BlobStore, url: string, missingIn: Claimant['missingIn']): Promise<void> {
  for await (const _blob of store.list()) return
  const missing = await missingIn(store)
  if (missing.length > 0)
    throw new Failure(
      'conflict',
      `${storeName(url)} has no blobs, and the database names ${missing.length}. Check that it is mounted and readable. Nothing was changed; --skip-damaged moves without them.`,
    )
}

/** Makes `to` the target of new blobs; the URL of the store that the others are in. */
const beginMove = (db: Database, configured: string, to: string): Promise<string> =>
  db.transaction(async (tx) => {
    const now = underSetting(await lockLocation(tx), configured)
    requireMovable(now, to)
    const { url, moving_to } = now
    // Turned round: what has entered the new store meanwhile goes back.
    const from = moving_to !== null && isSameStore(url, to) ? moving_to : url
    await saveLocation(tx, { ...now, url: from, moving_to: to })
    await notify(tx, 'blobs')
    return from
  })

const endMove = (db: Database, configured: string, from: string, to: string): Promise<void> =>
  db.transaction(async (tx) => {
    const now = underSetting(await lockLocation(tx), configured)
    // Another command has completed the same move.
    if (now.moving_to === null && isSameStore(now.url, to)) return
    if (now.moving_to === null || !isSameStore(now.moving_to, to) || !isSameStore(now.url, from))
      throw new Failure('conflict', 'Another move has begun meanwhile. Repeat the command to see its state.')
    await saveLocation(tx, { url: to, moving_to: null, moved_from: from })
    await notify(tx, 'blobs')
  })

/** Copies blobs from a store to another, in passes. */
class Copy {
  readonly #source: BlobStore
  readonly #target: BlobStore
  readonly #progress: (line: string) => void
  count = 0
  bytes = 0
  #reported = performance.now()

  constructor(source: BlobStore, target: BlobStore, progress: (line: string) => void) {
    this.#source = source
    this.#target = target
    this.#progress = progress
  }

  /** Copies the blobs that the target lacks. A sentence for each that cannot be copied. */
  async pass(): Promise<string[]> {
    const problems: string[] = []
    let checked = 0
    const running = new Set<Promise<void>>()
    let failed: unknown
    for await (const blob of this.#source.list()) {
      const work = this.#copy(blob)
        .then((problem) => {
          if (problem !== undefined) problems.push(problem)
          checked++
        })
        .catch((error) => {
          failed ??= error
        })
        .finally(() => running.delete(work))
      running.add(work)
      if (running.size >= atOnce) await Promise.race(running)
      if (failed !== undefined) break
      this.#report(checked)
    }
    await Promise.all(running)
    if (failed !== undefined) throw failed
    return problems
  }

  async #copy(blob: StoredBlob): Promise<string | undefined> {
    const { digest, sizeBytes } = blob
    if ((await this.#target.size(digest)) === sizeBytes) return undefined
    const found = await this.#source.get(digest)
    // Listed by a database that a backup may be of; the reader of the list cannot tell it from one deleted just now.
    if (!found) return `the blob ${digest} is missing`
    try {
      await this.#target.put(found.body, { digest, sizeBytes: found.sizeBytes })
    } catch (error) {
      if (error instanceof Failure && (error.kind === 'unprocessable' || error.cause instanceof DamagedBlob))
        return `the blob ${digest} is damaged`
      throw error
    }
    this.count++
    this.bytes += sizeBytes
    return undefined
  }

  #report(checked: number): void {
    if (performance.now() - this.#reported < progressMs) return
    this.#reported = performance.now()
    this.#progress(`${checked} blobs checked, ${this.count} copied (${inMegabytes(this.bytes)})`)
  }
}
