import pg from 'pg'
import { describe, expect } from 'vitest'
import { Random } from '../../bench/varied/random.ts'
import { test, type World } from '../../test/world.ts'
import { openMergeRequest } from '../modules/review/merge-requests/testing.ts'
import { integer, text } from './row.ts'
import { sql } from './sql.ts'
import { rowCache } from './testing/row-cache.ts'

/** Snapshots cover the whole server: another worker may commit between two reads of a test. */
const quiet = { retry: 8 }

/** A new project with an issue of its own. */
async function issue(world: World, labels?: string) {
  const project = await world.project()
  const { id } = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Old', labels })).json
  return { id: id as number, project: project.id }
}

type Issue = Awaited<ReturnType<typeof issue>>

/** A new merge request, with its project. */
async function mergeRequest(world: World) {
  const { id, project } = await openMergeRequest(world)
  return { id, project: project.id }
}

type MergeRequest = Awaited<ReturnType<typeof mergeRequest>>

/** What a transaction has recorded before it is undone: names, each with ids of holders, or of merge requests, or `any`. */
async function recorded(
  world: World,
  statements: readonly string[],
  column: 'holders' | 'merge_requests',
): Promise<Record<string, number[] | 'any'>> {
  const client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    for (const statement of statements) await client.query(statement)
    const { rows } = await client.query<{ relation: string; ids: string[] | null }>(
      `select relation, ${column} as ids from table_changes where transaction = pg_current_xact_id_if_assigned()`,
    )
    return Object.fromEntries(
      rows.map(({ relation, ids }) => [
        relation,
        ids ? [...new Set(ids.map(Number))].toSorted((a, b) => a - b) : 'any',
      ]),
    )
  } finally {
    await client.query('rollback')
    await client.end()
  }
}

type Case<Given> = readonly [
  condition: string,
  statements: (given: Given) => readonly string[],
  expected: (given: Given) => Record<string, number[] | 'any'>,
]

describe('the record of changes', () => {
  const title = (...of: Issue[]) => `update issues set title = title || '!' where id in (${of.map(({ id }) => id)})`
  const touch = (...of: Issue[]) => `update issues set updated_at = now() where id in (${of.map(({ id }) => id)})`
  const label = (holder: { project: number } | { group: number }) =>
    'project' in holder
      ? `insert into labels (project_id, title, color) values (${holder.project}, 'l-' || random(), '#ffffff')`
      : `insert into labels (namespace_id, title, color) values (${holder.group}, 'l-' || random(), '#ffffff')`

  const close = ({ id }: Issue) => `update issues set state = 'closed' where id = ${id}`

  type Given = { a: Issue; b: Issue; labelled: Issue; group: number }
  const cases: readonly Case<Given>[] = [
    ['of a row has its column and project', ({ a }) => [title(a)], ({ a }) => ({ 'issues.title': [a.project] })],
    [
      'of two statements has both projects',
      ({ a, b }) => [title(a), title(b)],
      ({ a, b }) => ({ 'issues.title': [a.project, b.project] }),
    ],
    [
      'of two columns has both',
      ({ a, b }) => [touch(a), title(b)],
      ({ a, b }) => ({ 'issues.updated_at': [a.project], 'issues.title': [b.project] }),
    ],
    [
      'of several rows is one of all columns',
      ({ a, b }) => [touch(a, b)],
      ({ a, b }) => ({ issues: [a.project, b.project] }),
    ],
    [
      'of many columns is one of all',
      ({ a }) => [
        `update issues set title = 'x', description = 'x', weight = 7, due_date = '2030-01-01', time_estimate = 9, state = 'closed',
           closed_at = now(), confidential = true, updated_at = now() where id = ${a.id}`,
      ],
      ({ a }) => ({ issues: [a.project] }),
    ],
    [
      'that changes no value is one of the version of the row',
      ({ a }) => [`update issues set title = title where id = ${a.id}`],
      ({ a }) => ({ 'issues.xmin': [a.project] }),
    ],
    [
      'of a row that moves has the project before and after',
      ({ a, b }) => [`update issues set project_id = ${b.project}, iid = 1000 where id = ${a.id}`],
      ({ a, b }) => ({ 'issues.project_id': [a.project, b.project], 'issues.iid': [a.project, b.project] }),
    ],
    ['of a state without labels has no labels', ({ a }) => [close(a)], ({ a }) => ({ 'issues.state': [a.project] })],
    [
      'of a state has the copies of labels, not the labels',
      ({ labelled }) => [close(labelled)],
      ({ labelled }) => ({ 'issues.state': [labelled.project], 'issue_labels.noteable_state': 'any' }),
    ],
    ['of no row is empty', () => ['select pg_current_xact_id()', 'delete from issues where false'], () => ({})],
    ['of what was undone is empty', ({ a }) => ['savepoint s', title(a), 'rollback to s'], () => ({})],
    [
      'of labels has the project, and the group as a negative number',
      ({ a, group }) => [label(a), label({ group })],
      ({ a, group }) => ({ labels: [-group, a.project] }),
    ],
    [
      'of many rows is of any holder',
      ({ a }) => [
        `insert into labels (project_id, title, color) select ${a.project}, 'm-' || g, '#ffffff' from generate_series(1, 33) g`,
        label(a),
      ],
      () => ({ labels: 'any' }),
    ],
    [
      'of a row without a project is of any holder',
      ({ group }) => [
        label({ group }),
        `insert into epics (iid, namespace_id, title, author_id) values (1000, ${group}, 'Epic', 1)`,
        `insert into notes (epic_id, author_id, discussion_id, body) select max(id), 1, repeat('a', 40), 'x' from epics`,
      ],
      ({ group }) => ({ labels: [-group], notes: 'any' }),
    ],
    [
      'of an emptied table is of any holder',
      ({ a }) => [label(a), 'truncate labels cascade'],
      () => ({ labels: 'any', issue_labels: 'any' }),
    ],
  ]

  test.for(cases)('%s', async ([, statements, expected], { world }) => {
    const { id: group } = await world.group()
    const given = { a: await issue(world), b: await issue(world), labelled: await issue(world, 'bug'), group }
    const found = await recorded(world, statements(given), 'holders')
    const names = Object.keys(found).filter((name) => /^(issues|issue_labels|labels|notes)/.test(name))
    expect(Object.fromEntries(names.map((name) => [name, found[name]]))).toEqual(expected(given))
  })
})

describe('the merge requests of a recorded change', () => {
  const title = (...ids: number[]) => `update merge_requests set title = title || '!' where id in (${ids})`
  const note = (column: 'merge_request_id' | 'issue_id', of: { id: number; project: number }, count = 1) => `
    insert into notes (project_id, ${column}, author_id, discussion_id, body)
    select ${of.project}, ${of.id}, 1, repeat('a', 40), 'x' from generate_series(1, ${count})
  `
  type Given = { a: MergeRequest; b: MergeRequest; issue: Issue }
  const cases: readonly Case<Given>[] = [
    ['of one is that one', ({ a }) => [title(a.id)], ({ a }) => ({ 'merge_requests.title': [a.id] })],
    ['of two is both', ({ a, b }) => [title(a.id, b.id)], ({ a, b }) => ({ merge_requests: [a.id, b.id] })],
    ['of a note is the one that it is about', ({ a }) => [note('merge_request_id', a)], ({ a }) => ({ notes: [a.id] })],
    ['of a note on an issue is none', ({ issue }) => [note('issue_id', issue)], () => ({ notes: [] })],
    [
      'of notes in several statements are those of all',
      ({ a, b, issue }) => [
        note('issue_id', issue),
        note('merge_request_id', a),
        `update notes set merge_request_id = ${b.id}, project_id = ${b.project} where merge_request_id = ${a.id}`,
        note('issue_id', issue),
      ],
      ({ a, b }) => ({ notes: [a.id, b.id] }),
    ],
    [
      'of deleted notes is the one that they were about',
      ({ a }) => [
        note('merge_request_id', a),
        'truncate table_changes',
        `delete from notes where merge_request_id = ${a.id}`,
      ],
      ({ a }) => ({ notes: [a.id] }),
    ],
    [
      'of many notes may be any',
      ({ a }) => [note('merge_request_id', a), note('merge_request_id', a, 33), note('merge_request_id', a)],
      () => ({ notes: 'any' }),
    ],
  ]

  test.for(cases)('%s', async ([, statements, expected], { world }) => {
    const given = { a: await mergeRequest(world), b: await mergeRequest(world), issue: await issue(world) }
    const found = await recorded(world, statements(given), 'merge_requests')
    const names = Object.keys(found).filter((name) => /^(merge_requests|notes)/.test(name))
    expect(Object.fromEntries(names.map((name) => [name, found[name]]))).toEqual(expected(given))
  })
})

describe('a cached row of a project', () => {
  const row = { id: integer, title: text, project_id: integer }
  const select = sql`select m.id, m.title, m.project_id from issues m`

  /** Caches titles of issues by project, and the number of all titles. */
  async function titles(world: World) {
    const reads = await rowCache(world)
    const holdersOf = ({ project_id }: { project_id: number }) => ({ projects: [project_id] })
    return {
      ...reads,
      one: async ({ id }: Issue) =>
        (await reads.snapshotCache.row(row, sql`${select} where m.id = ${id}`, holdersOf))?.title,
      all: async (...issues: Issue[]) => {
        const ids = issues.map(({ id }) => id)
        const of = (some: readonly number[]) => sql`${select} where m.id = any(${some}::bigint[])`
        const found = await reads.snapshotCache.byId(row, ids, of, holdersOf)
        return ids.map((id) => found.get(id)?.title)
      },
    }
  }

  const check = expect.stringMatching(/^\s*select pg_current_snapshot/)
  const read = expect.stringMatching(/^select cached/)
  const rename = (world: World, { id }: Issue, title: string) =>
    world.rows('update issues set title = $2 where id = $1', [id, title])

  test('stays after a change in another project, and is read again after one in its own', quiet, async ({ world }) => {
    await using reads = await titles(world)
    const [a, b] = [await issue(world), await issue(world)]
    expect([await reads.one(a), await reads.one(b)]).toEqual(['Old', 'Old'])
    await rename(world, b, 'New')
    reads.sent.length = 0
    expect([await reads.one(a), reads.sent.splice(0)]).toEqual(['Old', [check]])
    expect([await reads.one(b), reads.sent]).toEqual(['New', [read]])
  })

  test('is read with others by one statement, which reads only those that have changed', quiet, async ({ world }) => {
    await using reads = await titles(world)
    const issues = [await issue(world), await issue(world), await issue(world)]
    const [a, b, c] = issues as [Issue, Issue, Issue]
    expect(await reads.all(a, b)).toEqual(['Old', 'Old'])
    await rename(world, b, 'New')
    reads.sent.length = 0
    expect(await reads.all(c, a, b)).toEqual(['Old', 'Old', 'New'])
    expect(reads.sent.splice(0)).toEqual([check, read])
    expect(await reads.all(b, c, a)).toEqual(['New', 'Old', 'Old'])
    expect(reads.sent).toEqual([check])
  })

  test('stays after a change of a column that its statement does not name', quiet, async ({ world }) => {
    await using reads = await titles(world)
    const a = await issue(world)
    const version = sql`select title, xmin::text as version from issues where id = ${a.id}`
    const both = async () => [
      await reads.one(a),
      (await reads.snapshotCache.row({ title: text, version: text }, version))!.version,
    ]
    const before = await both()
    await world.rows('update issues set weight = 5, updated_at = now() where id = $1', [a.id])
    reads.sent.length = 0
    const after = await both()
    expect([after[0], reads.sent]).toEqual(['Old', [check, read]])
    expect(after[1]).not.toBe(before[1])
    await world.rows('update issues set title = title where id = $1', [a.id])
    expect((await both())[1]).not.toBe(after[1])
  })

  test('of a label of a group is read again after a change in that group only', quiet, async ({ world }) => {
    await using reads = await titles(world)
    const labelOf = async () => {
      const group = await world.group()
      const { id } = (await world.root.post(`/groups/${group.id}/labels`, { name: 'Old', color: '#ffffff' })).json
      return { id: id as number, group: group.id }
    }
    const [a, b] = [await labelOf(), await labelOf()]
    const titleOf = async (of: { id: number; group: number }) =>
      (await reads.snapshotCache.row({ title: text }, sql`select title from labels where id = ${of.id}`, () => ({
        projects: [],
        groups: [of.group],
      })))!.title
    expect([await titleOf(a), await titleOf(b)]).toEqual(['Old', 'Old'])
    await world.rows("update labels set title = 'New' where id = $1", [b.id])
    reads.sent.length = 0
    expect([await titleOf(a), reads.sent.splice(0)]).toEqual(['Old', [check]])
    expect([await titleOf(b), reads.sent]).toEqual(['New', [read]])
  })

  test('of a merge request is read again after a change of it or of its notes only', quiet, async ({ world }) => {
    await using reads = await titles(world)
    const [a, other] = [await mergeRequest(world), await mergeRequest(world)]
    await world.rows('update merge_requests set project_id = $2, iid = 1000 where id = $1', [other.id, a.project])
    const statement = sql`
      select m.id, m.title, (select count(*)::integer from notes n where n.merge_request_id = m.id) as notes
      from merge_requests m
      where m.id = ${a.id}
    `
    const found = async () => {
      const shape = { id: integer, title: text, notes: integer }
      const holdersOf = ({ id }: { id: number }) => ({ projects: [a.project], groups: [], mergeRequests: [id] })
      const { title, notes } = (await reads.snapshotCache.row(shape, statement, holdersOf))!
      return [title, notes, ...reads.sent.splice(0)]
    }
    const rename = (id: number) => world.rows("update merge_requests set title = 'New' where id = $1", [id])
    const addNote = (id: number) =>
      world.rows(
        `insert into notes (project_id, merge_request_id, author_id, discussion_id, body) values ($1, $2, 1, repeat('a', 40), 'x')`,
        [a.project, id],
      )
    const [title, notes] = (await found()) as [string, number]
    await rename(other.id)
    await addNote(other.id)
    expect(await found()).toEqual([title, notes, check])
    await addNote(a.id)
    expect(await found()).toEqual([title, notes + 1, check, read])
    await rename(a.id)
    expect(await found()).toEqual(['New', notes + 1, check, read])
  })

  test('is missing once it is deleted', async ({ world }) => {
    await using reads = await titles(world)
    const [a, b] = [await issue(world), await issue(world)]
    expect(await reads.all(a, b)).toEqual(['Old', 'Old'])
    await world.rows('delete from issues where id = $1', [a.id])
    expect([await reads.all(a, b), await reads.one(a)]).toEqual([[undefined, 'Old'], undefined])
  })

  test('concurrent reads of overlapping rows are exact, and one failed statement fails all of them', async ({
    world,
  }) => {
    await using reads = await titles(world)
    const [a, b, c] = [await issue(world), await issue(world), await issue(world)] as const
    expect(await Promise.all([reads.all(a, b), reads.all(b, c), reads.all(c, a)])).toEqual(
      Array.from({ length: 3 }, () => ['Old', 'Old']),
    )
    await rename(world, b, 'New')
    expect(await Promise.all([reads.all(a, b), reads.all(b, c), reads.one(b)])).toEqual([
      ['Old', 'New'],
      ['New', 'Old'],
      'New',
    ])
    const broken = reads.snapshotCache.byId(
      { id: integer },
      [1, 2],
      (ids) => sql`select 1 / (${ids}::bigint[])[1] - 1 / 0 as id`,
    )
    await expect(broken).rejects.toThrow('division by zero')
  })

  test('is exact after more changes than a process remembers', async ({ world }) => {
    await using reads = await titles(world)
    const [a, b] = [await issue(world), await issue(world)]
    expect(await reads.one(a)).toBe('Old')
    await rename(world, a, 'New')
    for (let round = 0; round < 40; round++) {
      await rename(world, b, String(round))
      expect(await reads.one(b)).toBe(String(round))
    }
    expect(await reads.one(a)).toBe('New')
    await rename(world, a, 'Newer')
    // 5,000 other projects: each process remembers some thousand.
    for (let first = 0; first < 5_000; first += 25)
      await world.rows(
        `insert into table_changes select pg_current_xact_id(), 'issues', array_agg(g) from generate_series($1::bigint, $1::bigint + 24) g`,
        [1_000_000_000 + first],
      )
    expect(await reads.one(b)).toBe('39')
    expect(await reads.one(a)).toBe('Newer')
  })

  test('equals what is read without the cache, whatever changes', async ({ world }) => {
    await using reads = await titles(world)
    const issues = [await issue(world), await issue(world), await issue(world), await issue(world)]
    const random = new Random(7)
    const any = () => random.pick(issues)
    for (let step = 0; step < 150; step++) {
      const [a, b] = [any(), any()]
      const changes = [
        () => rename(world, a, `title ${step}`),
        () => world.rows('update issues set updated_at = now() where id = $1', [a.id]),
        () => world.rows('update issues set title = title || $1 where id = any($2)', [step % 10, [a.id, b.id]]),
        () => world.rows('update issues set project_id = $2, iid = $3 where id = $1', [a.id, b.project, 1_000 + step]),
        () => world.rows('update labels set color = color where project_id = $1', [b.project]),
      ]
      await random.pick(changes)()
      const now = await world.rows('select id, title from issues where id = any($1)', [issues.map(({ id }) => id)])
      const title = new Map(now.map(({ id, title }) => [Number(id), title]))
      const asked = issues.filter(() => random.chance(0.6))
      expect(await reads.all(...asked), `step ${step}`).toEqual(asked.map(({ id }) => title.get(id)))
      expect(await reads.one(a)).toBe(title.get(a.id))
    }
  })
})
