import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
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

/** Puts the git of `STITHY_TEST_GIT` first on the PATH, for the tests and for the runner. */
function chooseGit(): void {
  const chosen = process.env['STITHY_TEST_GIT']
  if (!chosen) return
  if (!isAbsolute(chosen) || basename(chosen) !== 'git')
    throw new Error(`STITHY_TEST_GIT is not the absolute path of a program named git: ${chosen}`)
  process.env['PATH'] = dirname(chosen) + delimiter + process.env['PATH']
  console.log(`Tests use ${execFileSync('git', ['--version'], { encoding: 'utf8' }).trim()}`)
}

type Server = { url: string; stop: () => Promise<void> }

/** The server of `STITHY_TEST_DATABASE_URL`, which only this run uses. Databases created during the run are dropped at its end. */
async function outsideServer(url: string): Promise<Server> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const names = async () =>
    (await client.query<{ datname: string }>('select datname from pg_database')).rows.map(({ datname }) => datname)
  await client.query(`drop database if exists ${template} with (force)`)
  const before = new Set(await names())
  const version = (await client.query<{ server_version: string }>('show server_version')).rows[0]!.server_version
  console.log(`Tests use PostgreSQL ${version}`)
  return {
    url,
    stop: async () => {
      for (const name of await names())
        if (!before.has(name)) await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
      await client.end()
    },
  }
}

/** Starts or finds one PostgreSQL and starts one git runner for the whole run; each worker clones the migrated database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = scratchFolder()
  // Workers inherit it: everything temporary is in this folder, and goes away with it.
  process.env['TMPDIR'] = folder
  chooseGit()
  const outside = process.env['STITHY_TEST_DATABASE_URL']
  const postgres: Server = outside
    ? await outsideServer(outside)
    : await startEmbedded({ dataDir: folder, durability: 'none', log: () => {} })
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
