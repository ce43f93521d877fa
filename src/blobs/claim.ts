import { fileURLToPath } from 'node:url'
import type { Db } from '../db/db.ts'
import { isDiskFull } from '../kernel/full-disk.ts'
import { WrongSetting } from '../kernel/wrong-setting.ts'
import { type BlobStore, type Digest, StoreUnavailable } from './blob-store.ts'
import { isS3, storeName } from './location.ts'
import { markerPlace, readMarker, writeMarker } from './marker.ts'
import { openStore } from './open.ts'

/** The installation that uses a store, and what its database says of blobs. */
export type Claimant = {
  readonly installation: string
  /** Whether rows of the database name one of the digests. */
  readonly namesSome: (digests: readonly Digest[]) => Promise<boolean>
  /** A sentence for each blob that rows of the database name, and the store lacks. */
  readonly missingIn: (store: BlobStore) => Promise<readonly string[]>
}

/**
 * Marks a store as that of the installation. Fails if it is another's: two installations that share one would delete the blobs of each
 * other. `isOwn`: it is known to be that of the installation, unless blobs are missing in it.
 */
export async function claimStore(db: Db, url: string, claimant: Claimant, { isOwn = false } = {}): Promise<void> {
  if (await isMarked(url, claimant.installation)) return
  const store = await openStore(url, db)
  if ((await hasOnlyOthers(store, url, claimant)) && !(isOwn && (await claimant.missingIn(store)).length === 0))
    throw new WrongSetting(
      `${described(url)} has blobs, and none that the database of installation ${claimant.installation} names: ${remedy(url)}`,
    )
  try {
    await writeMarker(url, claimant.installation)
  } catch (error) {
    // Reads go on. The next start marks it.
    if (isDiskFull(error)) return
    throw error
  }
  // Another installation may have marked it meanwhile.
  await requireOwnStore(url, claimant.installation)
}

/** Fails if a store is marked as another installation's. One that does not answer is not. */
export async function requireOwnStore(url: string, installation: string): Promise<void> {
  try {
    await isMarked(url, installation)
  } catch (error) {
    if (!(error instanceof StoreUnavailable && error.isUnanswered)) throw error
  }
}

/** Whether a store is marked. Fails if it is marked as another installation's. */
async function isMarked(url: string, installation: string): Promise<boolean> {
  const marker = await readMarker(url)
  if (marker === undefined) return false
  if (marker === installation) return true
  throw new WrongSetting(
    /^[0-9a-f-]{36}$/.test(marker)
      ? `${described(url)} belongs to installation ${marker}, and this is installation ${installation}: ${remedy(url)}`
      : `${markerPlace(url)} contains no installation id. If the blobs are of installation ${installation}, write that id into it.`,
  )
}

const described = (url: string): string =>
  isS3(url) ? `The object storage ${storeName(url)}` : `The folder of blobs ${fileURLToPath(url)}`

const remedy = (url: string): string =>
  `name the store of this one, or an empty one. If its blobs are of this one, write the id of this one into ${markerPlace(url)}.`

const page = 1000

/** Whether a store has blobs, and none that the database knows. */
async function hasOnlyOthers(store: BlobStore, url: string, { namesSome }: Claimant): Promise<boolean> {
  // Its list is of the database.
  if (isS3(url)) {
    for await (const _blob of store.list()) return false
    return (await store.countUnknown()) > 0
  }
  let isEmpty = true
  let digests: Digest[] = []
  for await (const { digest } of store.list()) {
    isEmpty = false
    digests.push(digest)
    if (digests.length < page) continue
    if (await namesSome(digests)) return false
    digests = []
  }
  return !isEmpty && !(await namesSome(digests))
}
