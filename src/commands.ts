import { readdir } from 'node:fs/promises'
import { createApp, repositoriesDir } from './app.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/database.ts'
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

/** What the processes load: the application, and what the command line does besides serving. */
export { migrate } from './db/migrate.ts'
export { createApp }

const folderOf = (config: Config) => ({ dataDir: config.dataDir, repositoriesDir: repositoriesDir(config) })

/** Refuses a database of another installation than that of the data folder. To be called before `migrate`, which would change it. */
export async function requireOwn(config: Config, databaseUrl: string): Promise<void> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await refuseOther(db, folderOf(config))
}

/**
 * What a start does once, before anything else of ours touches the data. Refuses a database and a data folder that do not belong
 * together. The credentials of a new administrator.
 */
export async function bootstrap(config: Config, databaseUrl: string): Promise<RootCredentials | undefined> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await pairInstallation(db, folderOf(config))
  await releaseLocks(db, repositoriesDir(config))
  return await makeRoot(config, databaseUrl)
}

/** Makes a database and a data folder belong together; the service must not run. Returns the id that both have now. */
export async function adopt(config: Config, databaseUrl: string): Promise<string> {
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  return await adoptInstallation(db, folderOf(config))
}

/** A token for somebody, by name. Returns it; it is not kept in clear anywhere. */
export async function createToken(
  databaseUrl: string,
  { username, scopes, name, expiresOn }: TokenRequest,
): Promise<string> {
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

/** Compares the database with repositories and blobs; one sentence for each thing that is wrong. */
export async function checkData(
  config: Config,
  services: Services,
  progress: (line: string) => void,
): Promise<readonly string[]> {
  await using db = openDatabase(services.databaseUrl, { readers: 1, writers: 1 })
  await requirePair(db, folderOf(config))
  await using app = await createApp(config, services)
  const ctx = await app.open(null)
  const storages = await readdir(repositoriesDir(config)).catch(() => [])
  // Awaited here: what it uses is gone when this function ends.
  return [
    ...(await checkRepositories(ctx, storages, progress)),
    ...(await checkAvatars(ctx)),
    ...(await checkLargeFiles(ctx)),
    ...(await checkUploads(ctx)),
  ]
}
