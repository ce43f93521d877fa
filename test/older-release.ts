import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { databaseAt } from './global-setup.ts'

export type Row = Readonly<Record<string, unknown>>
export type Tables = Readonly<Record<string, readonly Row[]>>

const migrations = new URL('../src/db/migrations/', import.meta.url)
/** The last migration of the release that wrote `test/data/release-0029.json`. */
const lastOfRelease = '0029'

async function applyOlderMigrations(client: pg.Client): Promise<void> {
  await client.query(
    'create table schema_migrations (name text primary key, applied_at timestamptz not null default now())',
  )
  for (const file of (await readdir(migrations)).filter((name) => name.endsWith('.sql')).sort()) {
    if (file.slice(0, 4) > lastOfRelease) break
    await client.query(await readFile(new URL(file, migrations), 'utf8'))
    await client.query('insert into schema_migrations (name) values ($1)', [file])
  }
}

/** Inserts the rows without triggers, which would derive rows that the data already has. */
async function insertRows(client: pg.Client, tables: Tables): Promise<void> {
  await client.query('set session_replication_role = replica')
  // Rows that migrations inserted are in the data, too.
  await client.query(`truncate ${Object.keys(tables).join(', ')}`)
  for (const [table, rows] of Object.entries(tables)) {
    const given = new Set(rows.flatMap((row) => Object.keys(row)))
    const columns = [...given].map((name) => pg.escapeIdentifier(name)).join(', ')
    await client.query(
      `insert into ${table} (${columns}) overriding system value select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(rows)],
    )
  }
  const identities = await client.query<{ name: string; column: string }>(
    `select table_name as name, column_name as column from information_schema.columns where table_schema = 'public' and is_identity = 'YES'`,
  )
  for (const { name, column } of identities.rows)
    await client.query(`select setval(pg_get_serial_sequence($1, $2), coalesce(max(${column}), 0) + 1) from ${name}`, [
      name,
      column,
    ])
  await client.query('set session_replication_role = default')
}

export async function rowsOf(client: pg.Client, table: string): Promise<Row[]> {
  const { rows } = await client.query<{ row: Row }>(
    `select to_jsonb(t) as row from ${table} t order by to_jsonb(t)::text`,
  )
  return rows.map(({ row }) => row)
}

/** The rows of a release, by table. */
export const olderTables = async (): Promise<Tables> =>
  JSON.parse(await readFile(new URL('data/release-0029.json', import.meta.url), 'utf8'))

/** A database of that release, with its rows. */
export async function olderDatabase(
  tables: Tables,
): Promise<{ readonly client: pg.Client; readonly databaseUrl: string }> {
  const { adminUrl } = inject('postgres')
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const name = `older_${process.pid}_${randomBytes(4).toString('hex')}`
  await admin.query(`create database ${name}`)
  onTestFinished(() => admin.query(`drop database if exists ${name} with (force)`).then(() => admin.end()))
  const databaseUrl = databaseAt(adminUrl, name)
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()

  await applyOlderMigrations(client)
  await insertRows(client, tables)
  return { client, databaseUrl }
}
