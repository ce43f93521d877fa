import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { adopt, bootstrap } from '../../src/commands.ts'
import { parseConfig } from '../../src/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import { olderDatabase, olderTables, type Row, rowsOf } from '../older-release.ts'
import { Client, freePort, temporaryFolder } from '../world.ts'

/** Columns whose values a newer migration changes on purpose. */
const changedOnPurpose: Readonly<Record<string, readonly string[]>> = {
  merge_requests: ['allow_collaboration'],
  application_settings: ['values'],
  // Comments of commits get new ids (`moved-comments.test.ts`).
  feed_events: ['target_id'],
}
/** Columns that a newer migration renames, with their new names. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = { pushes: { door: 'transport' } }
/** Tables that a newer migration empties on purpose. */
const emptiedOnPurpose = ['events', 'rate_counters']
/** Tables that a newer migration drops: nothing of that release wrote them, or their rows are moved (`moved-comments.test.ts`). */
const droppedOnPurpose = ['sessions', 'commit_comments']

const withNewNames = (table: string, row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [renamed[table]?.[name] ?? name, value]))

const tableNames = `select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'schema_migrations' order by 1`

test('data of an older release survives all newer migrations, and is served', async () => {
  const tables = await olderTables()
  const { client, databaseUrl } = await olderDatabase(tables)
  const older = (await client.query<{ name: string }>(tableNames)).rows.map((row) => row.name)
  // The data has a row of every table of that release.
  expect(Object.keys(tables).filter((table) => tables[table]!.length > 0)).toEqual(older)
  const before = new Map<string, Row[]>()
  for (const table of older) before.set(table, await rowsOf(client, table))

  await migrate(databaseUrl)
  for (const table of older.filter((name) => !droppedOnPurpose.includes(name))) {
    const ignored = changedOnPurpose[table] ?? []
    const known = (row: Row, columns: readonly string[]) =>
      JSON.stringify(columns.filter((column) => !ignored.includes(column)).map((column) => [column, row[column]]))
    const older = before.get(table)!.map((row) => withNewNames(table, row))
    const columns = Object.keys(older[0]!)
    const moved = (row: Row) => table === 'notes' && row['commit_id'] !== null
    const after = (await rowsOf(client, table))
      .filter((row) => !moved(row))
      .map((row) => known(row, columns))
      .sort()
    const wanted = emptiedOnPurpose.includes(table) ? [] : older.map((row) => known(row, columns)).sort()
    expect(after, table).toEqual(wanted)
  }
  expect(tables['merge_requests']!.map((row) => row['allow_collaboration'])).toContain(true)
  expect((await rowsOf(client, 'merge_requests')).map((row) => row['allow_collaboration'])).not.toContain(true)
  for (const [table, copy, time] of [
    ['merge_requests', 'merge_request_updates', 'updated_at'],
    ['projects', 'project_activity', 'last_activity_at'],
  ] as const) {
    const times = (rows: readonly Row[]) => rows.map((row) => `${row['id']} ${row[time]}`).sort()
    expect(times(await rowsOf(client, copy)), copy).toEqual(times(await rowsOf(client, table)))
  }
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
  // The data has no repositories, so the pair must be confirmed, and no blobs, which a start would miss.
  await adopt(config, databaseUrl)
  await mkdir(join(folder.path, 'blobs', 'sha256'), { recursive: true })
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
