import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import { makeBackup } from '../backup/backup.ts'
import { findManifest, restore as restoreBackup } from '../backup/restore.ts'
import type { Manifest } from '../backup/store/manifest.ts'
import { Pace } from '../backup/store/pace.ts'
import { BackupStore } from '../backup/store/store.ts'
import { listBackups as readBackups, verifyBackups as readEverything } from '../backup/verify.ts'
import { LocatedBlobs } from '../blobs/located.ts'
import { writeMarker } from '../blobs/marker.ts'
import { openStore, requireEmptyStore } from '../blobs/open.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { lowerEmbeddedPriority } from '../db/embedded/start.ts'
import { contentOf } from '../db/load.ts'
import { Failure } from '../kernel/failure.ts'
import { setQuiet } from '../kernel/quiet.ts'
import { productVersion } from '../modules/instance/index.ts'
import { markInstallation } from '../modules/projects/index.ts'
import type { BackupFacts, BackupPlace, BackupRequest, RestoreRequest } from '../processes/app-module.ts'
import { requireOwnData } from './installation.ts'
import { folderOf, requireSchema } from './preconditions.ts'

/** Makes a backup, also while the service runs, and removes old ones as the settings say. */
export async function backup(
  config: Config,
  databaseUrl: string,
  { url, keyFile, full, holder }: BackupRequest,
  progress: (line: string) => void,
): Promise<{ made: BackupFacts; removed: number }> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await requireOwnData(config, db)
  const { manifest, removed } = await makeBackup({
    ...{ at: url, keyFile, databaseUrl, full, holder, progress, version: productVersion },
    giveWay: (pid) => {
      if (config.database.kind === 'embedded')
        lowerEmbeddedPriority(config.dataDir, pid, constants.priority.PRIORITY_BELOW_NORMAL)
    },
    ...folderOf(config),
    blobs: new LocatedBlobs(db, { configured: config.blobUrl }),
    pace: new Pace(config.backup.rate),
    keep: config.backup.keep,
  })
  const made = factsOf(manifest)
  if (typeof removed === 'number') return { made, removed }
  return {
    made: { ...made, problems: [...made.problems, `No old backups were removed. ${removed.message}`] },
    removed: 0,
  }
}

const factsOf = ({ id, moment, version, counts, problems }: Manifest): BackupFacts => {
  const { bytes, storedBytes, repositories, blobs, rows } = counts
  return { id, moment, version, bytes, storedBytes, repositories, blobs, rows, problems }
}

/** All complete backups, oldest first. */
export async function listBackups({ url, keyFile }: BackupPlace) {
  using store = await BackupStore.open(url, { keyFile })
  const { manifests, problems } = await readBackups(store)
  return { backups: manifests.map(factsOf), problems }
}

/** A backup by its id, or the newest one. */
export async function findBackup({ url, keyFile }: BackupPlace, id: string | undefined): Promise<BackupFacts> {
  using store = await BackupStore.open(url, { keyFile })
  return factsOf(await findManifest(store, id))
}

/** Reads everything of one backup or of all. */
export async function verifyBackups(
  { url, keyFile }: BackupPlace,
  id: string | undefined,
  progress: (line: string) => void,
) {
  using store = await BackupStore.open(url, { keyFile })
  return await readEverything(store, id, progress)
}

/**
 * Restores a backup into an empty data folder, an empty database and an empty store of blobs. A copy that is quiet gets an
 * installation id of its own, so that its parts cannot be confused with those of the original.
 */
export async function restore(
  config: Config,
  databaseUrl: string,
  { url, keyFile, id, quiet }: RestoreRequest,
  progress: (line: string) => void,
): Promise<{ made: BackupFacts; leftOut: readonly string[] }> {
  using store = await BackupStore.open(url, { keyFile })
  const manifest = await findManifest(store, id)
  if ((await contentOf(databaseUrl)) === 'data')
    throw new Failure('conflict', 'The database is not empty: create an empty one, and set STITHY_DATABASE_URL to it.')
  const installation = quiet ? randomUUID() : manifest.installation
  await requireEmptyStore(config.blobUrl, installation)
  const leftOut = await restoreBackup({
    ...{ store, manifest, databaseUrl, installation, progress },
    ...folderOf(config),
    openBlobs: async () => {
      await writeMarker(config.blobUrl, installation)
      const db = openDatabase(databaseUrl, { readers: 1, writers: 4 })
      return { blobs: await openStore(config.blobUrl, db), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
    },
  })
  setQuiet(config.dataDir, quiet)
  markInstallation(config.dataDir, installation)
  return { made: factsOf(manifest), leftOut }
}
