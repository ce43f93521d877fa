import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { requireOwnStore } from '../blobs/claim.ts'
import { readMarker, writeMarker } from '../blobs/marker.ts'
import { settleLocation } from '../blobs/settle.ts'
import { requireUsable } from '../blobs/usable.ts'
import { type Config, repositoriesDir, secretsFile } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import type { Database } from '../db/db.ts'
import { refuseNewerSchema } from '../db/migrate.ts'
import { openLog } from '../kernel/log.ts'
import { namesIn } from '../kernel/missing.ts'
import { openSecrets } from '../kernel/secrets.ts'
import { bootstrap as makeRoot, type RootCredentials } from '../modules/accounts/index.ts'
import { adoptInstallation, pairInstallation, refuseOther, requirePair } from '../modules/projects/index.ts'
import { releaseLocks } from '../modules/pushes/index.ts'
import { claimantOf, requireOwnStores, storesOf } from './blobs.ts'
import { folderOf, requireKeys } from './preconditions.ts'
import { unreadableIn } from './secrets.ts'

/**
 * Fails if the database is newer than this version, if it and the data folder belong to different installations, or if the file of
 * keys is missing that decrypts its secrets. Must be called before `migrate`, which would change the database.
 */
export async function requireOwn(config: Config, databaseUrl: string): Promise<void> {
  await refuseNewerSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await refuseOther(db, folderOf(config))
  await requireKeys(config, db)
}

/** As `requirePair`, and fails if a store of blobs belongs to another installation. */
export async function requireOwnData(config: Config, db: Database): Promise<void> {
  await requirePair(db, folderOf(config))
  await requireOwnStores(config, db)
}

/**
 * Start-up steps that run once, before anything else uses the data. Fails if the database and the data folder do not belong
 * together. Returns the credentials of a new administrator.
 */
export async function bootstrap(config: Config, databaseUrl: string): Promise<RootCredentials | undefined> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await pairInstallation(db, folderOf(config))
  const claimant = await claimantOf(db)
  const defaultFolder = join(config.dataDir, 'blobs')
  const notices = await settleLocation(db, {
    configured: config.blobUrl,
    hasFilesByDefault: () => hasEntries(join(defaultFolder, 'sha256')),
    requireUsable: (url, state) =>
      requireUsable(db, url, { ...state, isDefault: url === pathToFileURL(defaultFolder).href, claimant }),
    requireOwn: (url) => requireOwnStore(url, claimant.installation),
  })
  const unreadable = await unreadableIn(config, db)
  {
    using logging = openLog(config.logLevel)
    for (const notice of notices) logging.log.warn(notice)
    if (unreadable.length > 0)
      logging.log.error(
        { columns: unreadable },
        'secrets.keys lacks the key of secrets in the database, which cannot be read: restore the file that belongs to the database',
      )
  }
  await releaseLocks(db, repositoriesDir(config))
  return await makeRoot(config, databaseUrl)
}

const hasEntries = async (folder: string): Promise<boolean> => (await namesIn(folder)).length > 0

/** Pairs a database with a data folder, and with the stores of their blobs; the service must not run. Returns the id that all have now. */
export async function adopt(config: Config, databaseUrl: string): Promise<string> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  // Read first: a store that does not answer prevents the change.
  const marked = await Promise.all(
    (await storesOf(config, db)).map(async (url) => ({ url, marker: await readMarker(url) })),
  )
  const { id, former } = await adoptInstallation(db, folderOf(config))
  // Those of other installations stay theirs, and those without a marker get it at the next start.
  for (const { url, marker } of marked) if (marker !== undefined && former.includes(marker)) await writeMarker(url, id)
  openSecrets(secretsFile(config))
  return id
}
