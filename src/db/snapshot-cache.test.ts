import { setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect } from 'vitest'
import { test, type World } from '../../test/world.ts'
import { readChanges } from './known-changes.ts'
import { Moment } from './moment.ts'
import { RequestSnapshot } from './request-snapshot.ts'
import { integer, nullable, text } from './row.ts'
import { sql } from './sql.ts'
import { rowCache } from './testing/row-cache.ts'

const named = { name: text }
const nameOf = (id: number) => sql`select name from users where id = ${id}`
/** Snapshots cover the whole server: another worker may commit between two reads of a test. */
const quiet = { retry: 8 }

const snapshotCheck = expect.stringMatching(/^\s*select pg_current_snapshot/)
const read = expect.stringMatching(/^select cached/)

describe('the row cache', () => {
  test('concurrent reads of a cached row share one snapshot check', quiet, async ({ world }) => {
    await using reads = await rowCache(world)
    const row = await reads.snapshotCache.row(named, nameOf(1))
    expect(row!.name).toBe('Administrator')
    expect(reads.sent.splice(0)).toEqual([expect.stringContaining('from users')])
    const again = await Promise.all([1, 2, 3].map(() => reads.snapshotCache.row(named, nameOf(1))))
    expect(reads.sent).toEqual([snapshotCheck])
    for (const each of again) expect(each).toBe(row)
  })

  test('a cached row is read again after a commit, of another process too', async ({ world }) => {
    await using reads = await rowCache(world)
    const ann = await world.user({ name: 'Ann' })
    const read = () => reads.snapshotCache.row(named, nameOf(ann.id))
    expect(await read()).toMatchObject({ name: 'Ann' })
    await world.root.put(`/users/${ann.id}`, { name: 'Anna' })
    expect(await read()).toMatchObject({ name: 'Anna' })
  })

  test('a cached row survives commits that change other tables', async ({ world }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user({ name: 'Ann' })
    const row = await reads.snapshotCache.row(named, nameOf(id))
    await world.project({ initialize_with_readme: true })
    reads.sent.length = 0
    reads.snapshotCache.invalidate()
    expect(await reads.snapshotCache.row(named, nameOf(id))).toBe(row)
    expect(reads.sent).toEqual([snapshotCheck])
  })

  test('a cached row is read without a check when a change of its table is known', async ({ world }) => {
    await using reads = await rowCache(world)
    const ann = await world.user()
    await reads.snapshotCache.row(named, nameOf(1))
    await reads.snapshotCache.row(named, nameOf(ann.id))
    await world.root.put(`/users/${ann.id}`, { name: 'Other' })
    await reads.snapshotCache.row(named, nameOf(ann.id))
    reads.sent.length = 0
    await reads.snapshotCache.row(named, nameOf(1))
    expect(reads.sent).toEqual([read])
  })

  test('what was changed lately is read from the index, however much was changed before', async ({ world }) => {
    const client = new pg.Client({ connectionString: world.databaseUrl })
    await client.connect()
    try {
      await client.query('begin; set local plan_cache_mode = force_generic_plan')
      await client.query(
        "insert into table_changes (transaction, relation) select n::text::xid8, 'earlier' from generate_series(1, 20000) n",
      )
      await client.query(`prepare changes as ${readChanges(new Moment('19999:20000:19999 2026-11-26')).text}`)
      const { rows } = await client.query(`explain execute changes ('19999', '{19999}', '20000', 1000)`)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toContain('table_changes_pkey')
      expect(plan).not.toMatch(/Seq Scan on table_changes /)
    } finally {
      await client.end()
    }
  })

  test.for([
    ['a change whose transaction began before the row was read', ''],
    ['a change in a savepoint', 'savepoint s'],
    ['a change after one that was undone', "savepoint s; update users set name = 'never' where id = 1; rollback to s"],
  ] as const)('a cached row is read again after %s', async ([, before], { world }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user({ name: 'Old' })
    const writer = new pg.Client({ connectionString: world.databaseUrl })
    await writer.connect()
    try {
      await writer.query(`begin; select pg_current_xact_id(); ${before}`)
      const name = async () => (await reads.snapshotCache.row(named, nameOf(id)))!.name
      expect([await name(), await name()]).toEqual(['Old', 'Old'])
      await writer.query('update users set name = $1 where id = $2', ['New', id])
      await world.rows("update users set name = 'Another' where id = $1", [(await world.user()).id])
      expect([await name(), await name()]).toEqual(['Old', 'Old'])
      await writer.query('commit')
      expect([await name(), await name()]).toEqual(['New', 'New'])
    } finally {
      await writer.end()
    }
  })

  test('a cached row is read again after a cascade, and after a change that a view or a function reads', async ({
    world,
  }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user()
    await world.rows('insert into emails (user_id, email) values ($1, $2)', [id, `${id}@example.com`])
    const count = async () =>
      (await reads.snapshotCache.row(
        { count: integer },
        sql`select count(*)::integer as count from emails where user_id = ${id}`,
      ))!.count
    expect(await count()).toBe(1)
    await world.rows('delete from users where id = $1', [id])
    expect(await count()).toBe(0)
  })

  test('a cached row is read again after a bulk load without triggers', async ({ world }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user({ name: 'Old' })
    const name = async () => (await reads.snapshotCache.row(named, nameOf(id)))!.name
    expect([await name(), await name()]).toEqual(['Old', 'Old'])
    const writer = new pg.Client({ connectionString: world.databaseUrl })
    await writer.connect()
    try {
      await writer.query('set session_replication_role = replica')
      await writer.query('update users set name = $1 where id = $2', ['New', id])
      expect(await name()).toBe('New')
    } finally {
      await writer.end()
    }
  })

  test.for([
    'update table_changes_kept set since = pg_snapshot_xmax(pg_current_snapshot())',
    'delete from table_changes_kept',
  ])('a cached row is read again if the record of changes may be incomplete: %s', async (lost, { world }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user({ name: 'Old' })
    const name = async () => (await reads.snapshotCache.row(named, nameOf(id)))!.name
    expect(await name()).toBe('Old')
    await world.rows('update users set name = $1 where id = $2', ['New', id])
    await world.rows('delete from table_changes')
    await world.rows(lost)
    expect(await name()).toBe('New')
  })

  test('concurrent reads of a row share one query', quiet, async ({ world }) => {
    await using reads = await rowCache(world)
    const first = reads.snapshotCache.row(named, nameOf(1))
    await turn()
    const others = [1, 2, 3].map(() => reads.snapshotCache.row(named, nameOf(1)))
    const [row, ...same] = await Promise.all([first, ...others])
    for (const each of same) expect(each).toBe(row)
    expect(reads.sent).toEqual([expect.stringContaining('from users'), snapshotCheck])
  })

  test('a failed read rejects all concurrent callers and is repeated on the next read', async ({ world }) => {
    await using reads = await rowCache(world)
    const broken = sql`select 1 / ${0} as nothing`
    const asked = await Promise.allSettled([1, 2].map(() => reads.snapshotCache.row({ nothing: integer }, broken)))
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(reads.snapshotCache.row({ nothing: integer }, broken)).rejects.toThrow('division by zero')
  })

  test('cached rows are read again at once when the database can be reached again', async ({ world }) => {
    await using reads = await rowCache(world)
    const read = () => reads.snapshotCache.row(named, nameOf(1))
    await read()
    reads.outage.isOver = false
    await expect(read()).rejects.toThrow('no connection')
    reads.outage.isOver = true
    expect(await read()).toMatchObject({ name: 'Administrator' })
  })

  test('the row cache distinguishes values and does not cache missing rows', async ({ world }) => {
    await using reads = await rowCache(world)
    const ann = await world.user({ name: 'Ann' })
    expect(await reads.snapshotCache.row(named, nameOf(1))).toMatchObject({ name: 'Administrator' })
    expect(await reads.snapshotCache.row(named, nameOf(ann.id))).toMatchObject({ name: 'Ann' })
    expect(await reads.snapshotCache.row(named, nameOf(999_999))).toBeUndefined()
    expect(reads.snapshotCache.expects(named, nameOf(999_999))).toBe(false)
  })

  test('a cached row is immutable', async ({ world }) => {
    await using reads = await rowCache(world)
    const row = (await reads.snapshotCache.row(named, nameOf(1))) as { name: string }
    expect(() => {
      row.name = 'Mine'
    }).toThrow(TypeError)
  })

  test('several rows are cached together, in their order', quiet, async ({ world }) => {
    await using reads = await rowCache(world)
    const [ann, ben] = await Promise.all([world.user({ name: 'Ann' }), world.user({ name: 'Ben' })])
    const read = () =>
      reads.snapshotCache.rows(
        named,
        sql`select name from users where id = any(${[ann.id, ben.id]}::bigint[]) order by name desc`,
      )
    const rows = await read()
    expect(rows).toMatchObject([{ name: 'Ben' }, { name: 'Ann' }])
    reads.sent.length = 0
    expect(await read()).toBe(rows)
    expect(reads.sent).toEqual([snapshotCheck])
  })

  test('a page that is too large fails no other one that shares some of its reads', async ({ world }) => {
    await using reads = await rowCache(world)
    const longs = { id: integer, long: nullable(text) }
    const statementOf = (ids: readonly number[]) =>
      sql`select id, repeat('x', 1000000) as long from unnest(${ids}::bigint[]) as id`
    const page = (size: number) =>
      reads.snapshotCache.byId(
        longs,
        Array.from({ length: size }, (_, index) => index + 1),
        statementOf,
      )
    const large = { status: 'rejected', reason: { kind: 'too_large' } }
    const first = page(60)
    first.catch(() => {})
    await turn()
    // Both wait for the first. Then the second reads, and the third shares that.
    expect(await Promise.allSettled([first, page(60), page(20)])).toMatchObject([
      large,
      large,
      { status: 'fulfilled', value: { size: 20 } },
    ])
  })

  test('a cached row is never older than the last commit before the read', async ({ world }) => {
    await using reads = await rowCache(world)
    const { id } = await world.user({ name: '0' })
    let committed = 0
    let behind = 0
    const readers = Array.from({ length: 8 }, async (_, reader) => {
      for (let round = 0; round < 150; round++) {
        const least = committed
        const row = await reads.snapshotCache.row(named, nameOf(id))
        if (Number(row!.name) < least) behind++
        if ((round + reader) % 3 === 0) await turn()
      }
    })
    const writer = async () => {
      for (let name = 1; name <= 60; name++) {
        await world.db.run(sql`update users set name = ${String(name)} where id = ${id}`)
        committed = name
        // Concurrent, while snapshot checks of other reads are running.
        const row = await reads.snapshotCache.row(named, nameOf(id))
        if (Number(row!.name) < name) behind++
      }
    }
    await Promise.all([...readers, writer()])
    expect(behind).toBe(0)
  })
})

/** Two users whose rows are cached, a function that reads both for a request one after the other, and one that renames both. */
async function twoUsers(world: World) {
  const reads = await rowCache(world)
  const ids = [(await world.user({ name: 'Old' })).id, (await world.user({ name: 'Old' })).id] as const
  const one = async (index: 0 | 1, request?: RequestSnapshot) =>
    (await reads.snapshotCache.row(named, nameOf(ids[index]), undefined, request))!.name
  const both = async (request?: RequestSnapshot) => [await one(0, request), await one(1, request)]
  // In one round trip, so that their rows have one snapshot.
  const cache = () => Promise.all([one(0), one(1)])
  await cache()
  reads.sent.length = 0
  const rename = (name: string) => world.db.run(sql`update users set name = ${name} where id = any(${ids}::bigint[])`)
  return { ...reads, one, both, cache, rename }
}

describe('the cached rows of a request', () => {
  test('share one snapshot check, although they are read one after the other', quiet, async ({ world }) => {
    await using users = await twoUsers(world)
    const request = new RequestSnapshot()
    expect([await users.both(request), await users.both(request)]).toEqual([
      ['Old', 'Old'],
      ['Old', 'Old'],
    ])
    expect(users.sent).toEqual([snapshotCheck])
    await users.both()
    expect(users.sent).toHaveLength(3)
  })

  test('need no check after a row that was read now', quiet, async ({ world }) => {
    await using users = await twoUsers(world)
    const request = new RequestSnapshot()
    users.snapshotCache.invalidate()
    await users.both(request)
    users.sent.length = 0
    await users.both(request)
    expect(users.sent).toEqual([])
  })

  test('are of one state of the database, whatever is committed meanwhile', quiet, async ({ world }) => {
    await using users = await twoUsers(world)
    const [request, later] = [new RequestSnapshot(), new RequestSnapshot()]
    expect(await users.one(0, request)).toBe('Old')
    await users.rename('New')
    expect(await users.one(1, request)).toBe('Old')
    expect(await users.both(later)).toEqual(['New', 'New'])
  })

  test('are never older than a row that the request has read without the cache', quiet, async ({ world }) => {
    await using users = await twoUsers(world)
    const request = new RequestSnapshot()
    expect(await users.one(0, request)).toBe('Old')
    await users.rename('New')
    request.forget()
    expect(await users.both(request)).toEqual(['New', 'New'])
  })

  test('are never older than a check that began before a row was read without the cache', quiet, async ({ world }) => {
    await using users = await twoUsers(world)
    const request = new RequestSnapshot()
    const early = users.one(0, request)
    request.forget()
    expect(await early).toBe('Old')
    users.sent.length = 0
    await users.one(1, request)
    expect(users.sent).toEqual([snapshotCheck])
  })

  test('are read again after a commit of this process, and after the answer', quiet, async ({ world }) => {
    for (const change of ['commit', 'end'] as const) {
      await using users = await twoUsers(world)
      const request = new RequestSnapshot()
      expect(await users.one(0, request)).toBe('Old')
      await users.rename('New')
      if (change === 'commit') users.snapshotCache.invalidate()
      else request.end()
      expect(await users.both(request)).toEqual(['New', 'New'])
    }
  })

  test('are read again after a row that the request has read from the database', quiet, async ({ world }) => {
    const ann = await world.user({ name: 'Old' })
    const db = world.db.for('user 1', { snapshot: new RequestSnapshot() })
    const cached = async () => (await db.snapshotCache.row(named, nameOf(ann.id)))!.name
    expect([await cached(), await cached()]).toEqual(['Old', 'Old'])
    await world.rows('update users set name = $1 where id = $2', ['New', ann.id])
    expect((await db.row(named, nameOf(ann.id)))!.name).toBe('New')
    expect(await cached()).toBe('New')
  })
})
