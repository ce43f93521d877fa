import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { shortFolder } from '../db/embedded/socket-folder.ts'
import { findEmbedded, startEmbedded } from '../db/embedded/start.ts'
import type { Services } from './app-module.ts'
import { DataDirInUse, lockDataDir } from './data-dir.ts'
import { gitRunner, type Parts } from './parts.ts'
import { requireDatabase } from './requirements.ts'
import type { Terminal } from './terminal.ts'

/** How long a service that has just been started may take until its database answers, in ms. */
const startingWithinMs = 15_000

/** For a command that must be alone: fails with DataDirInUse while the service runs. */
export async function withDatabaseAlone<T>(
  { database, dataDir }: Config,
  terminal: Terminal,
  use: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  using _lock = await lockDataDir(dataDir)
  if (database.kind === 'external') {
    await requireDatabase(database.url)
    return await use(database.url)
  }
  await using embedded = await startEmbedded({ dataDir, log: terminal.err })
  return await use(embedded.url)
}

/** For a command: uses the database of the running service, or else starts PostgreSQL for as long as `use` takes. */
export async function withDatabase<T>(
  config: Config,
  terminal: Terminal,
  use: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  const { database, dataDir } = config
  if (database.kind === 'external') {
    await requireDatabase(database.url)
    return use(database.url)
  }
  const deadline = performance.now() + startingWithinMs
  while (true) {
    try {
      return await withDatabaseAlone(config, terminal, use)
    } catch (error) {
      if (!(error instanceof DataDirInUse)) throw error
      const url = await findEmbedded(dataDir)
      if (url !== undefined) return use(url)
      if (performance.now() > deadline) throw error
      await delay(100)
    }
  }
}

/** The same with a git runner of our own beside it. */
export const withServices = <T>(
  config: Config,
  parts: Parts,
  terminal: Terminal,
  use: (services: Services) => Promise<T>,
): Promise<T> =>
  withDatabase(config, terminal, async (databaseUrl) => {
    const runnerSocket = join(shortFolder(join(config.dataDir, 'run')), `runner.${process.pid}.sock`)
    const runner = await gitRunner(parts, runnerSocket).start(new AbortController().signal)
    try {
      return await use({ databaseUrl, runnerSocket })
    } finally {
      await runner.stop(0)
    }
  })
