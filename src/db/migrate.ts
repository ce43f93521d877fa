import { readdir, readFile } from 'node:fs/promises'
import { runMigrations as runJobMigrations } from 'graphile-worker'
import pg from 'pg'
import { Failure } from '../kernel/failure.ts'
import { connectionOptions } from './connection.ts'

const folder = new URL('migrations/', import.meta.url)
/** Key of the advisory lock: processes that start together take turns. */
const lock = 7_180_339
/** `server_version_num` of PostgreSQL 14. */
const oldestServer = 140_000

/**
 * Updates the schema, one transaction per migration, under a lock for which other processes wait. Forward only; applied files are
 * never edited. Calls `progress` for each step.
 */
export async function migrate(url: string, progress: (line: string) => void = () => {}): Promise<void> {
  const client = new pg.Client({ ...connectionOptions(url, 'migrate'), statement_timeout: 0, lock_timeout: 0 })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`)
    if (Number(rows[0]!.version) < oldestServer)
      throw new Failure('unavailable', 'The database is older than PostgreSQL 14.')
    await client.query('select pg_advisory_lock($1)', [lock])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())',
    )
    const applied = new Set(
      (await client.query<{ name: string }>('select name from schema_migrations')).rows.map(({ name }) => name),
    )
    const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    for (const file of files) {
      if (applied.has(file)) continue
      progress(`migrating the database: ${file.replace(/\.sql$/, '')}`)
      await client.query('begin')
      await client.query(await readFile(new URL(file, folder), 'utf8'))
      await client.query('insert into schema_migrations (name) values ($1)', [file])
      await client.query('commit')
    }
    await runJobMigrations({ connectionString: url })
  } finally {
    await client.end()
  }
}
