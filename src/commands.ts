import { readdir } from 'node:fs/promises'
import { createApp, repositoriesDir } from './app.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/database.ts'
import { refuseNewerSchema } from './db/migrate.ts'
import { invalid, notFound } from './kernel/failure.ts'
import {
  findAccount,
  createToken as insertToken,
  bootstrap as makeRoot,
  type RootCredentials,
  tokenScopes,
} from './modules/accounts/index.ts'
import { checkAvatars } from './modules/namespaces/index.ts'
import {
  adoptInstallation,
  checkRepositories,
  checkUploads,
  pairInstallation,
  refuseOther,
  requirePair,
} from './modules/projects/index.ts'
import { checkLargeFiles, releaseLocks } from './modules/pushes/index.ts'
import type { Services, TokenRequest } from './processes/app-module.ts'

/** The module that all processes load: the application, and the commands of the command line. */
export { migrate } from './db/migrate.ts'
export { createApp }

const folderOf = (config: Config) => ({ dataDir: config.dataDir, repositoriesDir: repositoriesDir(config) })

/**
 * Fails if the database is newer than this version, or if it and the data folder belong to different installations. Must be
 * called before `migrate`, which would change the database.
 */
export async function requireOwn(config: Config, databaseUrl: string): Promise<void> {
  await refuseNewerSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await refuseOther(db, folderOf(config))
}

/**
 * Start-up steps that run once, before anything else uses the data. Fails if the database and the data folder do not belong
 * together. Returns the credentials of a new administrator.
 */
export async function bootstrap(config: Config, databaseUrl: string): Promise<RootCredentials | undefined> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await pairInstallation(db, folderOf(config))
  await releaseLocks(db, repositoriesDir(config))
  return await makeRoot(config, databaseUrl)
}

/** Pairs a database with a data folder; the service must not run. Returns the id that both have now. */
export async function adopt(config: Config, databaseUrl: string): Promise<string> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  return await adoptInstallation(db, folderOf(config))
}

/** Creates an access token for a user. Returns the token; only its digest is stored. */
export async function createToken(
  databaseUrl: string,
  { username, scopes, name, expiresOn }: TokenRequest,
): Promise<string> {
  await refuseNewerSchema(databaseUrl)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  if (expiresOn !== undefined && Number.isNaN(Date.parse(expiresOn))) throw invalid(`${expiresOn} is not a date`)
  return await db.transaction(async (tx) => {
    const user = await findAccount(tx, username)
    if (!user) throw notFound(`User ${username}`)
    const { token } = await insertToken(tx, {
      kind: 'personal',
      userId: user.user_id,
      name,
      scopes: tokenScopes(scopes, user.admin),
      expiresAt: expiresOn ?? null,
    })
    return token
  })
}

/** Compares the database with repositories and blobs; one sentence for each problem. */
export async function checkData(
  config: Config,
  services: Services,
  progress: (line: string) => void,
): Promise<readonly string[]> {
  await refuseNewerSchema(services.databaseUrl)
  await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
  await requirePair(db, folderOf(config))
  await using app = await createApp(config, services)
  const ctx = await app.open(null)
  const storages = await readdir(repositoriesDir(config)).catch(() => [])
  // Awaited here, because the app is disposed when this function ends.
  return [
    ...(await checkRepositories(ctx, storages, progress)),
    ...(await checkAvatars(ctx)),
    ...(await checkLargeFiles(ctx)),
    ...(await checkUploads(ctx)),
  ]
}
