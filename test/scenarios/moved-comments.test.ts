import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { olderDatabase, olderTables, type Row, rowsOf } from '../older-release.ts'

const move = '0080'
const ids = { one: 'a'.repeat(40), two: 'b'.repeat(40) }
const [thread, lineThread, elsewhere] = ['1', '2', '3'].map((digit) => digit.repeat(40))
const position = {
  base_sha: ids.two,
  start_sha: ids.two,
  head_sha: ids.one,
  old_path: 'a',
  new_path: 'a',
  position_type: 'text',
  old_line: null,
  new_line: 5,
}

/** Comments of the release before the move, in the order of their ids; the data of the older release has the first. */
const comments: readonly Row[] = [
  { id: 11, project_id: 2, commit_oid: ids.one, author_id: 3, note: 'Single', discussion_id: '4'.repeat(40) },
  { id: 12, project_id: 2, commit_oid: ids.one, author_id: 2, note: 'Asked', discussion_id: thread, threaded: true },
  { id: 13, project_id: 2, commit_oid: ids.one, author_id: 3, note: 'Answered', discussion_id: thread, threaded: true },
  {
    ...{ id: 14, project_id: 2, commit_oid: ids.two, author_id: 3, note: 'On a line', discussion_id: lineThread },
    ...{ path: 'a', line: 5, line_type: 'new' },
  },
  {
    ...{ id: 15, project_id: 2, commit_oid: ids.one, author_id: 3, note: 'In the diff', discussion_id: '5'.repeat(40) },
    ...{ path: 'a', line: 5, line_type: 'new', threaded: true, position },
  },
  { id: 16, project_id: 1, commit_oid: ids.one, author_id: 3, note: 'In a fork', discussion_id: elsewhere },
]

test('comments of commits of an older release become notes with their discussions, lines, activity and events', async () => {
  const tables = await olderTables()
  const { client, databaseUrl } = await olderDatabase(tables)
  const files = await readdir(new URL('../../src/db/migrations/', import.meta.url))
  await migrate(databaseUrl, () => {}, new Set(files.filter((name) => name < move)))
  const insert = async (table: string, rows: readonly Row[]) => {
    for (const row of rows) {
      const columns = Object.keys(row).join(', ')
      await client.query(
        `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`,
        [JSON.stringify(row)],
      )
    }
  }
  const at = { created_at: '2026-01-02T03:04:05Z', updated_at: '2026-02-03T04:05:06Z' }
  await insert(
    'commit_comments',
    comments.map((row) => ({ threaded: false, ...row, ...at })),
  )
  const line = { author_id: 3, action: 'commented', code: true, created_at: at.created_at }
  await insert('feed_events', [
    { id: 101, project_id: 2, target_type: 'Note', target_id: 12, target_title: 'Title of one', ...line },
    { id: 102, project_id: 2, target_type: 'MergeRequest', target_id: 12, target_title: 'Other', ...line },
  ])
  const noted = (id: number, kind: string, payload: object) => ({ id, kind, project_id: 2, actor_id: 3, payload })
  await client.query('set session_replication_role = replica')
  for (const [id, kind, payload] of [
    [101, 'note_created', { note_id: 12, noteable_type: 'Commit', commit_id: ids.one }],
    [102, 'note_created', { note_id: 12, noteable_type: 'MergeRequest', noteable_id: 1 }],
  ] as const) {
    const row = noted(id, kind, payload)
    await client.query(
      `insert into events (id, kind, project_id, actor_id, payload) overriding system value values ($1, $2, $3, $4, $5)`,
      [row.id, row.kind, row.project_id, row.actor_id, JSON.stringify(row.payload)],
    )
  }
  await client.query('set session_replication_role = default')
  const notesBefore = await rowsOf(client, 'notes')

  await migrate(databaseUrl)
  const commits = await rowsOf(client, 'commented_commits')
  const named = (project: number, oid: string) =>
    commits.find((row) => row['project_id'] === project && row['oid'] === oid)!
  expect(named(2, ids.one)).toMatchObject({ title: 'Title of one', author_id: null })
  expect(named(2, ids.two)).toMatchObject({ title: 'bbbbbbbb' })
  expect(named(1, ids.one)).toMatchObject({ title: 'aaaaaaaa' })

  const notes = await rowsOf(client, 'notes')
  const others = notes.filter((row) => row['commit_id'] === null)
  expect(others.map(({ id }) => id).sort()).toEqual(notesBefore.map(({ id }) => id).sort())
  const moved = notes
    .filter((row) => row['created_at'] === '2026-01-02T03:04:05+00:00')
    .sort((a, b) => Number(a['id']) - Number(b['id']))
  const shared = { system: false, position: null, changed_line: null, updated_at: '2026-02-03T04:05:06+00:00' }
  const changedLine = { path: 'a', line: 5, kind: 'new' }
  const one = { ...shared, project_id: 2, commit_id: named(2, ids.one)['id'] }
  expect(moved).toMatchObject([
    { ...one, body: 'Single', author_id: 3, threaded: false, discussion_id: '4'.repeat(40) },
    { ...one, body: 'Asked', author_id: 2, threaded: true, discussion_id: thread },
    { ...one, body: 'Answered', author_id: 3, threaded: true, discussion_id: thread },
    {
      ...shared,
      ...{ commit_id: named(2, ids.two)['id'], body: 'On a line', threaded: true, discussion_id: lineThread },
      changed_line: changedLine,
    },
    { ...one, body: 'In the diff', threaded: true, position, changed_line: changedLine },
    { ...shared, project_id: 1, commit_id: named(1, ids.one)['id'], body: 'In a fork', discussion_id: elsewhere },
  ])
  // The comment that the older release wrote is there, too.
  expect(notes.filter(({ body }) => body === 'Fine')).toMatchObject([{ project_id: 2, author_id: 3, threaded: false }])

  const asked = moved[1]!['id']
  const feed = await rowsOf(client, 'feed_events')
  expect(feed.find(({ id }) => id === 101)).toMatchObject({ target_id: asked })
  expect(feed.find(({ id }) => id === 102)).toMatchObject({ target_id: 12 })
  const events = await rowsOf(client, 'events')
  expect(events.find(({ id }) => id === 101)).toMatchObject({ payload: { note_id: asked } })
  expect(events.find(({ id }) => id === 102)).toMatchObject({ payload: { note_id: 12 } })
  await client.end()
})
