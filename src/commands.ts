import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type App, createApp, preload } from './app.ts'
import { makeBackup } from './backup/backup.ts'
import { findManifest, restore as restoreBackup } from './backup/restore.ts'
import type { Manifest } from './backup/store/manifest.ts'
import { Pace } from './backup/store/pace.ts'
import { BackupStore } from './backup/store/store.ts'
import { listBackups as readBackups, verifyBackups as readEverything } from './backup/verify.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { type BlobCheck, blobCheck, damagedIn } from './blobs/check.ts'
import { type Claimant, requireOwnStore } from './blobs/claim.ts'
import { currentLocation } from './blobs/current-location.ts'
import { LocatedBlobs } from './blobs/located.ts'
import { readMarker, writeMarker } from './blobs/marker.ts'
import { moveBlobs as copyAll, type Moved } from './blobs/move.ts'
import { openStore, probeStore, requireEmptyStore } from './blobs/open.ts'
import { recordsLocation } from './blobs/queries.ts'
import { settleLocation } from './blobs/settle.ts'
import { requireNamed, requireUsable } from './blobs/usable.ts'
import { type Config, repositoriesDir, secretsFile } from './config.ts'
import { openDatabase } from './db/database.ts'
import type { Database, Db } from './db/db.ts'
import { lowerEmbeddedPriority } from './db/embedded/start.ts'
import { inspectServer } from './db/inspect.ts'
import { contentOf } from './db/load.ts'
import { refuseNewerSchema, refuseOlderSchema } from './db/migrate.ts'
import { columnsContaining } from './db/reseal.ts'
import { keysOfSecrets } from './db/sealed.ts'
import { Failure, notFound } from './kernel/failure.ts'
import { openLog } from './kernel/log.ts'
import { isThere, namesIn } from './kernel/missing.ts'
import { setQuiet } from './kernel/quiet.ts'
import { beginRotation, endRotation, openSecrets } from './kernel/secrets.ts'
import {
  createTokenAs,
  findUserByName,
  bootstrap as makeRoot,
  operatorActions,
  peopleInBatches,
  type RootCredentials,
  resealTwoFactors,
  tokenExpiry,
  tokenScopes,
} from './modules/accounts/index.ts'
import { resealSettings, unreferenced } from './modules/administration/index.ts'
import { resealVariables } from './modules/groups/index.ts'
import { productVersion, resealAnswers } from './modules/instance/index.ts'
import { resealHooks } from './modules/integrations/index.ts'
import { resealImports, resealPullMirrors, resealPushMirrors } from './modules/lifecycle/index.ts'
import { checkAvatars } from './modules/namespaces/index.ts'
import { checkArchives, resealDownloads, resealForgeTokens, resealUploads } from './modules/portability/index.ts'
import {
  adoptInstallation,
  checkRepositories,
  checkUploads,
  findInstallationId,
  markInstallation,
  pairInstallation,
  refuseOther,
  requirePair,
  storagesIn,
} from './modules/projects/index.ts'
import { checkLargeFiles, checkSideRepositories, deleteSigningKeys, releaseLocks } from './modules/pushes/index.ts'
import { checkLayers } from './modules/registry/index.ts'
import type {
  BackupFacts,
  BackupPlace,
  BackupRequest,
  DatabaseFacts,
  RestoreRequest,
  Services,
  TokenRequest,
  UserAction,
} from './processes/app-module.ts'

/** The module that all processes load: the application, and the commands of the command line. */
export { migrate } from './db/migrate.ts'
export { createApp, preload }

const folderOf = (config: Config) => ({ dataDir: config.dataDir, repositoriesDir: repositoriesDir(config) })

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

/** Fails if the file of keys is missing that decrypts secrets in the database: a new file would not help them. */
async function requireKeys(config: Config, db: Db): Promise<void> {
  const file = secretsFile(config)
  if (isThere(file)) return
  const columns = [...(await keysOfSecrets(db)).values()].flat()
  if (columns.length > 0)
    throw new Failure(
      'conflict',
      `${file} is missing, which decrypts secrets in the database (${[...new Set(columns)].join(', ')}): restore it from a backup. ` +
        'If it is lost, so are these secrets: "stithy adopt" makes another one.',
    )
}

/** The columns of the database with secrets that no key of the data folder decrypts, as `table.column`. */
export async function findUnreadable(config: Config, databaseUrl: string): Promise<string[]> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  return await unreadableIn(config, db)
}

async function unreadableIn(config: Config, db: Db): Promise<string[]> {
  const used = await keysOfSecrets(db)
  if (used.size === 0) return []
  const secrets = openSecrets(secretsFile(config))
  return [...new Set([...used].flatMap(([id, columns]) => (secrets.hasKey(id) ? [] : columns)))].sort()
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

/** Opens the application for a command. Fails with one sentence unless it can use the database. */
async function openApp(config: Config, services: Services): Promise<App> {
  await requireSchema(services.databaseUrl)
  {
    await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
    await requireKeys(config, db)
  }
  return await createApp(config, services)
}

/** Fails with one sentence unless the database has the schema of this version. */
async function requireSchema(databaseUrl: string): Promise<void> {
  await refuseNewerSchema(databaseUrl)
  await refuseOlderSchema(databaseUrl)
}

/** Creates an access token for a user. Returns the token; only its digest is stored. */
export async function createToken(
  config: Config,
  services: Services,
  { username, scopes, name, expiresOn }: TokenRequest,
): Promise<string> {
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const user = await findUserByName(ctx.db, username)
  if (!user) throw notFound(`User ${username}`)
  const { token } = await createTokenAs(ctx, {
    kind: 'personal',
    userId: user.id,
    name,
    scopes: tokenScopes(scopes, user.admin),
    expiresAt: tokenExpiry(ctx, expiresOn ?? null),
  })
  return token
}

/** Version, encoding and clock of a database server. */
export const inspectDatabase = (databaseUrl: string): Promise<DatabaseFacts> => inspectServer(databaseUrl)

/** Prints one line for each user, under a heading. */
export async function listUsers(databaseUrl: string, print: (line: string) => void): Promise<void> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  print(['id', 'username', 'email', 'state', 'role', 'last activity'].join('\t'))
  for await (const people of peopleInBatches(db))
    for (const { id, username, email, state, admin, last_activity_on: active } of people)
      print([id, username, email, state, admin ? 'administrator' : 'user', active ?? 'never'].join('\t'))
}

/** Does what an operator asks with the account of a person. Returns what was done, as lines of text. */
export async function changeUser(
  config: Config,
  services: Services,
  username: string,
  action: UserAction,
): Promise<readonly string[]> {
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const user = await findUserByName(ctx.db, username)
  if (user?.kind !== 'human') throw notFound(`User ${username}`)
  // Awaited here, because the app is disposed when this function ends.
  return await operatorActions[action](ctx, user)
}

/** Every function that encrypts the secrets of a module with the current key. */
const reseals = [
  resealAnswers,
  resealSettings,
  resealTwoFactors,
  resealVariables,
  resealImports,
  resealPullMirrors,
  resealPushMirrors,
  resealHooks,
  resealUploads,
  resealDownloads,
  resealForgeTokens,
]

/**
 * Replaces the key that encrypts secrets in the database. The new key is in the file before it encrypts anything, and the old one
 * until the transaction has committed that leaves nothing to it: whenever this process is killed, the service can decrypt all
 * secrets, and another call completes the rotation. Also deletes the keys that sign credentials. The caller holds the lock of the
 * data folder. Returns the number of encrypted secrets.
 */
export async function rotateSecrets(config: Config, databaseUrl: string): Promise<number> {
  await requireSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await requirePair(db, folderOf(config))
  await requireKeys(config, db)
  const file = secretsFile(config)
  const secrets = beginRotation(file)
  const count = await db.transaction(async (tx) => {
    let replaced = 0
    for (const reseal of reseals) replaced += await reseal(tx, secrets)
    await deleteSigningKeys(tx)
    const left = await columnsContaining(tx, secrets.stalePrefixes)
    if (left.length > 0)
      throw new Failure('conflict', `The old key is still in use in ${left.join(', ')}, so nothing was changed.`)
    return replaced
  })
  endRotation(file)
  return count
}

/** Compares the database with repositories and blobs; one sentence for each problem. `readsBlobs` reads every blob in full. */
export async function checkData(
  config: Config,
  services: Services,
  { readsBlobs }: { readonly readsBlobs: boolean },
  progress: (line: string) => void,
): Promise<readonly string[]> {
  await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
  await requireOwnData(config, db)
  await using app = await openApp(config, services)
  const ctx = await app.open(null)
  const storages = await storagesIn(repositoriesDir(config))
  // Awaited here, because the app is disposed when this function ends.
  return [
    ...(await checkRepositories(ctx, storages, progress)),
    ...(await checkSideRepositories(ctx, storages, progress)),
    ...(await checkNamedBlobs(
      ctx.db,
      blobCheck(ctx.blobs, readsBlobs ? await damagedIn(ctx.blobs, progress) : undefined),
    )),
    ...(await checkUnknownObjects(app.blobs)),
  ]
}

/** A sentence for each blob that a row names, and with which something is wrong. */
const checkNamedBlobs = async (db: Db, check: BlobCheck): Promise<string[]> => [
  ...(await checkAvatars(db, check)),
  ...(await checkLargeFiles(db, check)),
  ...(await checkUploads(db, check)),
  ...(await checkLayers(db, check)),
  ...(await checkArchives(db, check)),
]

/** A sentence for each blob that a row names, and a store lacks. */
const missingBlobs = (db: Db) => (store: BlobStore) => checkNamedBlobs(db, blobCheck(store))

/** Reports objects in the store of which the database knows nothing. */
async function checkUnknownObjects(blobs: LocatedBlobs): Promise<string[]> {
  const unknown = await blobs.countUnknown()
  return unknown === 0
    ? []
    : [
        `the object storage has ${unknown} objects that the database does not know: they are newer than a restored backup`,
      ]
}

/** The installation of a database, as the user of a store of blobs. */
const claimantOf = async (db: Db): Promise<Claimant> => ({
  installation: (await findInstallationId(db))!,
  namesSome: async (digests) => (await unreferenced(db, digests)).length < digests.length,
  missingIn: missingBlobs(db),
})

/** URLs of the stores that have blobs, one or, during a move, two. */
async function storesOf(config: Config, db: Db): Promise<string[]> {
  const { url, moving_to } = await currentLocation(db, config.blobUrl)
  return moving_to === null ? [url] : [url, moving_to]
}

/** As `requirePair`, and fails if a store of blobs belongs to another installation. */
async function requireOwnData(config: Config, db: Database): Promise<void> {
  await requirePair(db, folderOf(config))
  await requireOwnStores(config, db)
}

async function requireOwnStores(config: Config, db: Db): Promise<void> {
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
  await markInstallation(config.dataDir, installation)
  return { made: factsOf(manifest), leftOut }
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
