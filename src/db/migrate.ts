import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { Failure } from '../kernel/failure.ts'
import { hasTable, withClient } from './client.ts'
import { connectionOptions } from './connection.ts'
import { oldestServer } from './oldest-server.ts'

const folder = new URL('migrations/', import.meta.url)
/** Key of the advisory lock: processes that start together take turns. */
const lock = 7_180_339
/** The last migration of graphile-worker 0.18.0, the pinned version. */
export const lastJobsMigration = 20

const migrationFiles = async (): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

/**
 * Fails with one sentence if a newer version of Stithy has migrated the database: this version does not know what that one
 * stores. Also fails if the database is partly restored. Changes nothing.
 */
export const refuseNewerSchema = (url: string): Promise<void> =>
  withClient(connectionOptions(url, 'schema'), async (client) => {
    if (await hasTable(client, 'schema_migrations')) requireKnown(await appliedTo(client), await migrationFiles())
    if (await hasTable(client, 'unfinished_restore'))
      throw new Failure(
        'conflict',
        'A restore into this database has not been completed: repeat stithy restore, or create the database again.',
      )
  })

const appliedTo = async (client: pg.Client): Promise<Set<string>> =>
  new Set((await client.query<{ name: string }>('select name from schema_migrations')).rows.map(({ name }) => name))

function requireKnown(applied: ReadonlySet<string>, files: readonly string[]): void {
  const unknown = [...applied].filter((name) => !files.includes(name)).sort()
  if (unknown.length === 0) return
  const last = unknown.at(-1)!.replace(/\.sql$/, '')
  throw new Failure(
    'unavailable',
    `A newer version of Stithy has migrated this database (to ${last}): install that version again, or restore the backup from before the upgrade.`,
  )
}

/** Fails with one sentence if migrations of this version, or all tables, are missing. */
export const refuseOlderSchema = (url: string): Promise<void> =>
  withClient(connectionOptions(url, 'schema'), async (client) => {
    if (!(await hasTable(client, 'schema_migrations')))
      throw new Failure(
        'conflict',
        'There is no installation in this database: set STITHY_DATABASE_URL to the one of the service, or start the service.',
      )
    const applied = await appliedTo(client)
    if ((await migrationFiles()).some((file) => !applied.has(file)))
      throw new Failure(
        'conflict',
        'The database is that of an earlier version: start the service, or run stithy migrate.',
      )
  })

/**
 * Updates the schema, one transaction per migration, under a lock for which other processes wait. Forward only; applied files are
 * never edited. Calls `progress` for each step of an upgrade, and once for a new database. Refuses a schema that is newer than this version.
 * With `only`, other migrations are left out.
 */
export async function migrate(
  url: string,
  progress: (line: string) => void = () => {},
  only?: ReadonlySet<string>,
): Promise<void> {
  const config = { ...connectionOptions(url, 'migrate'), statement_timeout: 0, lock_timeout: 0 }
  await withClient(config, async (client) => {
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`)
    if (Number(rows[0]!.version) < oldestServer.versionNumber)
      throw new Failure('unavailable', `The database is older than PostgreSQL ${oldestServer.major}.`)
    await client.query('select pg_advisory_lock($1)', [lock])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())',
    )
    const [applied, files] = [await appliedTo(client), await migrationFiles()]
    requireKnown(applied, files)
    if (applied.size === 0) progress('creating the tables of the database')
    for (const file of files) {
      if (applied.has(file) || only?.has(file) === false) continue
      if (applied.size > 0) progress(`migrating the database: ${file.replace(/\.sql$/, '')}`)
      await client.query('begin')
      await client.query(await readFile(new URL(file, folder), 'utf8'))
      await client.query('insert into schema_migrations (name) values ($1)', [file])
      await client.query('commit')
    }
    // An HTTP worker needs the library for nothing else.
    if ((await lastMigrationOfJobs(client)) < lastJobsMigration) await migrateJobs(url)
  })
}

async function lastMigrationOfJobs(client: pg.Client): Promise<number> {
  if (!(await hasTable(client, 'graphile_worker.migrations'))) return 0
  const { rows } = await client.query<{ last: number | null }>('select max(id) as last from graphile_worker.migrations')
  return rows[0]!.last ?? 0
}

async function migrateJobs(url: string): Promise<void> {
  const { runMigrations } = await import('graphile-worker')
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  // PostgreSQL may stop before the pool has closed an idle connection; errors of statements are thrown.
  const ignore = () => {}
  pool.on('error', ignore).on('connect', (connection) => void connection.on('error', ignore))
  try {
    await runMigrations({ pgPool: pool })
  } finally {
    await pool.end()
  }
}
