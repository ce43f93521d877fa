import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { adopt, bootstrap } from '../../src/commands.ts'
import { parseConfig } from '../../src/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import { databaseAt } from '../global-setup.ts'
import { Client, freePort, temporaryFolder } from '../world.ts'

type Row = Readonly<Record<string, unknown>>
type Tables = Readonly<Record<string, readonly Row[]>>

const migrations = new URL('../../src/db/migrations/', import.meta.url)
/** The last migration of the release that wrote `test/data/release-0029.json`. */
const lastOfRelease = '0029'

/** Columns whose values a newer migration changes on purpose. */
const changedOnPurpose: Readonly<Record<string, readonly string[]>> = {
  merge_requests: ['allow_collaboration'],
  application_settings: ['values'],
}
/** Columns that a newer migration renames, with their new names. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = { pushes: { door: 'transport' } }
/** Tables that a newer migration empties on purpose. */
const emptiedOnPurpose = ['events']
/** Tables that a newer migration drops, because nothing of that release wrote them. */
const droppedOnPurpose = ['sessions']

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

const withNewNames = (table: string, row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [renamed[table]?.[name] ?? name, value]))

async function rowsOf(client: pg.Client, table: string): Promise<Row[]> {
  const { rows } = await client.query<{ row: Row }>(
    `select to_jsonb(t) as row from ${table} t order by to_jsonb(t)::text`,
  )
  return rows.map(({ row }) => row)
}

const tableNames = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'schema_migrations' order by 1`

test('data of an older release survives all newer migrations, and is served', async () => {
  const tables: Tables = JSON.parse(await readFile(new URL('../data/release-0029.json', import.meta.url), 'utf8'))
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
  const older = (await client.query<{ name: string }>(tableNames)).rows.map((row) => row.name)
  // The data has a row of every table of that release.
  expect(Object.keys(tables).filter((table) => tables[table]!.length > 0)).toEqual(older)
  await insertRows(client, tables)
  const before = new Map<string, Row[]>()
  for (const table of older) before.set(table, await rowsOf(client, table))

  await migrate(databaseUrl)
  for (const table of older.filter((name) => !droppedOnPurpose.includes(name))) {
    const ignored = changedOnPurpose[table] ?? []
    const known = (row: Row, columns: readonly string[]) =>
      JSON.stringify(columns.filter((column) => !ignored.includes(column)).map((column) => [column, row[column]]))
    const older = before.get(table)!.map((row) => withNewNames(table, row))
    const columns = Object.keys(older[0]!)
    const after = (await rowsOf(client, table)).map((row) => known(row, columns)).sort()
    const wanted = emptiedOnPurpose.includes(table) ? [] : older.map((row) => known(row, columns)).sort()
    expect(after, table).toEqual(wanted)
  }
  expect(tables['merge_requests']!.map((row) => row['allow_collaboration'])).toContain(true)
  expect((await rowsOf(client, 'merge_requests')).map((row) => row['allow_collaboration'])).not.toContain(true)
  await client.end()

  await using folder = await temporaryFolder()
  const config = parseConfig({
    STITHY_DATA_DIR: folder.path,
    STITHY_HTTP_PORT: String(await freePort()),
    STITHY_SSH_PORT: '0',
    STITHY_DATABASE_URL: databaseUrl,
    STITHY_ROOT_PASSWORD: 'root-password-for-tests',
    STITHY_LOG_LEVEL: 'silent',
  })
  // The data has no repositories, so the pair must be confirmed.
  await adopt(config, databaseUrl)
  await bootstrap(config, databaseUrl)
  await using app = await createApp(config, { databaseUrl, runnerSocket: inject('runnerSocket') })
  await app.listen()
  // The token that this release digested.
  const token = 'root-token-for-tests'
  const root = new Client(`http://127.0.0.1:${config.http.port}`, { id: 1, username: 'root', token })
  const project = tables['labels']![0]!['project_id']
  const { iid } = tables['merge_requests']!.find((row) => row['project_id'] === project)!
  const group = tables['namespaces']!.find((row) => row['kind'] === 'group')!['id']
  for (const [path, count] of [
    ['/users', tables['users']!.filter(({ kind }) => kind === 'human').length],
    ['/projects', tables['projects']!.length],
    [`/groups/${group}`, undefined],
    [`/groups/${group}/members`, undefined],
    [`/projects/${project}`, undefined],
    [`/projects/${project}/members`, undefined],
    [`/projects/${project}/labels`, 1],
    [`/projects/${project}/milestones`, 1],
    [`/projects/${project}/protected_branches`, undefined],
    [`/projects/${project}/merge_requests/${iid}`, undefined],
    [`/projects/${project}/merge_requests/${iid}/notes`, undefined],
    [`/projects/${project}/merge_requests/${iid}/discussions`, undefined],
    [`/projects/${project}/events`, undefined],
    ['/todos', undefined],
    ['/events', undefined],
    ['/topics', undefined],
    ['/application/settings', undefined],
    ['/broadcast_messages', 1],
  ] as const) {
    const { status, text, json } = await root.get(path)
    expect(status, `${path}: ${text}`).toBe(200)
    if (count !== undefined) expect(json, path).toHaveLength(count)
  }
  const note = { body: 'Written after the migration' }
  expect((await root.post(`/projects/${project}/merge_requests/${iid}/notes`, note)).status).toBe(201)
})
