import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { shortFolder } from '../db/embedded/socket-folder.ts'
import { findEmbedded, hasCluster, startEmbedded } from '../db/embedded/start.ts'
import { Failure } from '../kernel/failure.ts'
import type { Services } from './app-module.ts'
import { DataDirInUse, lockDataDir } from './data-dir.ts'
import { gitRunner, type Parts } from './parts.ts'
import { requireDatabase } from './requirements.ts'
import type { Terminal } from './terminal.ts'

/** Maximum time until the database of a starting service responds, in ms. */
const startingWithinMs = 15_000

/** Where a command works that may run before the first start of the service. */
type Creation = { readonly mayCreate?: boolean }

/** The sentence for a command that would otherwise create a second installation: in the current folder, for example. */
const noInstallation = (dataDir: string): Failure =>
  new Failure(
    'not_found',
    `There is no installation in ${dataDir}: set STITHY_DATA_DIR to the data folder of the service, or start the service.`,
  )

/** Opens the database for a command that needs exclusive access: fails with DataDirInUse while the service runs. */
export async function withDatabaseAlone<T>(
  { database, dataDir }: Config,
  terminal: Terminal,
  use: (databaseUrl: string) => Promise<T>,
  { mayCreate = false }: Creation = {},
): Promise<T> {
  if (!mayCreate && !existsSync(dataDir)) throw noInstallation(dataDir)
  using _lock = await lockDataDir(dataDir)
  if (database.kind === 'external') {
    await requireDatabase(database.url)
    return await use(database.url)
  }
  if (!mayCreate && !hasCluster(dataDir)) throw noInstallation(dataDir)
  await using embedded = await startEmbedded({ dataDir, log: terminal.err })
  return await use(embedded.url)
}

/** Opens the database for a command: that of the running service; otherwise starts PostgreSQL until `use` settles. */
export async function withDatabase<T>(
  config: Config,
  terminal: Terminal,
  use: (databaseUrl: string) => Promise<T>,
  creation: Creation = {},
): Promise<T> {
  const { database, dataDir } = config
  if (database.kind === 'external') {
    await requireDatabase(database.url)
    return use(database.url)
  }
  const deadline = performance.now() + startingWithinMs
  while (true) {
    try {
      return await withDatabaseAlone(config, terminal, use, creation)
    } catch (error) {
      if (!(error instanceof DataDirInUse)) throw error
      const url = await findEmbedded(dataDir)
      if (url !== undefined) return use(url)
      if (performance.now() > deadline) throw error
      await delay(100)
    }
  }
}

/** Like `withDatabase`, and also starts a git runner. */
export const withServices = <T>(
  config: Config,
  parts: Parts,
  terminal: Terminal,
  use: (services: Services) => Promise<T>,
): Promise<T> =>
  withDatabase(config, terminal, async (databaseUrl) => {
    if (!existsSync(config.dataDir)) throw noInstallation(config.dataDir)
    const runnerSocket = join(shortFolder(join(config.dataDir, 'run')), `runner.${process.pid}.sock`)
    const runner = await gitRunner(parts, runnerSocket).start(new AbortController().signal)
    try {
      return await use({ databaseUrl, runnerSocket })
    } finally {
      await runner.stop(0)
    }
  })
