import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../src/db/embedded/start.ts'
import { migrate } from '../src/db/migrate.ts'
import { startRunner } from '../src/git/runner/start.ts'
import { scratchFolder } from './scratch.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database server for the tests; `database` is the migrated database that workers clone. */
    postgres: { adminUrl: string; template: string }
    runnerSocket: string
    /** A temporary folder that is removed after the run. */
    folder: string
  }
}

export const template = 'stithy_template'

/** The same server, another database. */
export function databaseAt(url: string, name: string): string {
  const at = new URL(url)
  at.pathname = `/${name}`
  return at.toString()
}

/** Starts one PostgreSQL and one git runner for the whole run; each worker clones the migrated database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = scratchFolder()
  // Workers inherit it: everything temporary is in this folder, and goes away with it.
  process.env['TMPDIR'] = folder
  const postgres = await startEmbedded({ dataDir: folder, durability: 'none', log: () => {} })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`create database ${template}`)
  await client.end()
  await migrate(databaseAt(postgres.url, template))
  const runnerSocket = join(folder, 'runner.sock')
  const runner = await startRunner({ socketPath: runnerSocket })
  project.provide('postgres', { adminUrl: postgres.url, template })
  project.provide('runnerSocket', runnerSocket)
  project.provide('folder', folder)
  return async () => {
    await runner[Symbol.asyncDispose]()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
