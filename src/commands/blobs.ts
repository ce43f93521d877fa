import { type Claimant, requireOwnStore } from '../blobs/claim.ts'
import { currentLocation } from '../blobs/current-location.ts'
import { LocatedBlobs } from '../blobs/located.ts'
import { moveBlobs as copyAll, type Moved } from '../blobs/move.ts'
import { probeStore } from '../blobs/open.ts'
import { recordsLocation } from '../blobs/queries.ts'
import { requireNamed } from '../blobs/usable.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import type { Db } from '../db/db.ts'
import { unreferenced } from '../modules/administration/index.ts'
import { findInstallationId, requirePair } from '../modules/projects/index.ts'
import { missingBlobs } from './named-blobs.ts'
import { folderOf, requireSchema } from './preconditions.ts'

/** The installation of a database, as the user of a store of blobs. */
export const claimantOf = async (db: Db): Promise<Claimant> => ({
  installation: (await findInstallationId(db))!,
  namesSome: async (digests) => (await unreferenced(db, digests)).length < digests.length,
  missingIn: missingBlobs(db),
})

/** URLs of the stores that have blobs, one or, during a move, two. */
export async function storesOf(config: Config, db: Db): Promise<string[]> {
  const { url, moving_to } = await currentLocation(db, config.blobUrl)
  return moving_to === null ? [url] : [url, moving_to]
}

/** Fails if a store of blobs belongs to another installation. */
export async function requireOwnStores(config: Config, db: Db): Promise<void> {
  const id = await findInstallationId(db)
  if (id !== undefined) for (const url of await storesOf(config, db)) await requireOwnStore(url, id)
}

/** Writes, reads and deletes a few bytes in every store that has blobs, and looks whether a folder has some; fails with what does not work. */
export async function probeBlobs(config: Config, databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined) return probeStore(config.blobUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  if (!(await recordsLocation(db))) return probeStore(config.blobUrl)
  await new LocatedBlobs(db, { configured: config.blobUrl }).probe()
  await requireOwnStores(config, db)
  const { url } = await currentLocation(db, config.blobUrl)
  await requireNamed(db, url, missingBlobs(db))
}

/** Moves all blobs to another store, also while the service runs. */
export async function moveBlobs(
  config: Config,
  databaseUrl: string,
  { to, skipDamaged }: { to: string; skipDamaged: boolean },
  progress: (line: string) => void,
): Promise<Moved> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 2, writers: 4 })
  await requirePair(db, folderOf(config))
  return await copyAll(db, { configured: config.blobUrl, to, skipDamaged, progress, claimant: await claimantOf(db) })
}
