import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { eventually, withEnoughTime } from '../../test/waiting.ts'
import { test, World } from '../../test/world.ts'
import { openDatabase } from './database.ts'
import { boundedPage, byKey, ofPage, type Statement } from './db.ts'
import { integer, notNull, nullable, text } from './row.ts'
import { raw, sql } from './sql.ts'
import { proxyOf } from './testing/proxy.ts'

const backend = { pid: integer }
const ownPid = raw('select pg_backend_pid() as pid')

test('413 to a page whose records are too long, whose connection serves other statements', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, { pageReaders: 1 })
  const shape = { text: nullable(text) }
  const long = (rows: number) => sql`select repeat('x', 1000000) as text from generate_series(1, ${rows})`
  await expect(db.rows(shape, ofPage(long(60)))).rejects.toMatchObject({ kind: 'too_large' })
  expect(await db.rows(shape, ofPage(long(30)))).toHaveLength(30)
  await expect(db.rows(shape, boundedPage(long(60)))).rejects.toMatchObject({ kind: 'too_large' })
  expect(await db.rows(shape, long(60))).toHaveLength(60)
})

test('a connection lost in a transaction fails only that transaction', async ({ world }) => {
  const transaction = world.db.transaction(async (tx) => {
    const { pid } = (await tx.row(backend, ownPid))!
    await world.db.run(sql`select pg_terminate_backend(${pid}::integer)`)
    await tx.rows(backend, ownPid)
  })
  await expect(transaction).rejects.toMatchObject({ name: 'Failure', kind: 'unavailable' })
  expect(await world.db.transaction((tx) => tx.row(backend, ownPid))).toMatchObject({ pid: expect.any(Number) })
})

test('a failing statement is not reported as an unavailable database', async ({ world }) => {
  await expect(world.db.run(raw('select 1 / 0'))).rejects.toMatchObject({ code: '22012' })
})

test('a transaction that changes nothing leaves the row cache as it is', async ({ world }) => {
  const row = sql`select username from users where id = 1`
  const shape = { username: text }
  await world.db.snapshotCache.row(shape, row)
  await world.db.transaction((tx) => tx.run(raw('select 1')))
  expect(world.db.snapshotCache.expects(shape, row)).toBe(true)
})

test('a statement by key has one plan for all values, and others may have one for each', async ({ world }) => {
  const modes = sql`select setting from pg_settings where name = 'plan_cache_mode'`
  const shape = { setting: nullable(text) }
  for (const once of [byKey, ofPage])
    expect(await world.db.row(shape, once(modes))).toEqual({ setting: 'force_generic_plan' })
  expect(await world.db.row(shape, modes)).toEqual({ setting: 'auto' })
  expect(await world.db.transaction((tx) => tx.row(shape, byKey(modes)))).toEqual({ setting: 'auto' })
})

test('writes keep few unsorted entries in an index of trigrams, which each search would read', async ({ world }) => {
  await world.db.run(raw('create table texts (text text)'))
  try {
    await world.db.run(raw('create index texts_search on texts using gin (text gin_trgm_ops)'))
    await world.db.run(raw('insert into texts select md5(n::text) from generate_series(1, 1000) n'))
    const pages = await world.db.row({ pages: integer }, raw(`select gin_clean_pending_list('texts_search') as pages`))
    expect(pages!.pages).toBeLessThanOrEqual(128 / 8)
  } finally {
    await world.db.run(raw('drop table texts'))
  }
})

test('a transaction that references a row deleted meanwhile is retried', async ({ world }) => {
  let attempts = 0
  const work = world.db.transaction(async (tx) => {
    attempts++
    if (attempts === 1) await tx.run(raw(`insert into group_access values (-1, -1, 10, 'infinity')`))
    return 'done'
  })
  expect([await work, attempts]).toEqual(['done', 2])
})

test.for([
  { state: '40P01', meaning: 'can be tried again', failure: { kind: 'unavailable', retryAfterSeconds: 1 } },
  { state: '23503', meaning: 'refers to something that is gone', failure: { kind: 'not_found' } },
])(
  'a transaction that fails in each attempt with $state $meaning, and its cause is known',
  async ({ state, failure }, { world }) => {
    let attempts = 0
    const work = world.db.transaction(async (tx) => {
      attempts++
      await tx.run(raw(`do $$ begin raise sqlstate '${state}'; end $$`))
    })
    await expect(work).rejects.toMatchObject({ ...failure, cause: { code: state } })
    expect(attempts).toBe(4)
  },
)

test('a transaction is retried after a deadlock if the failure of a later statement is seen first', async ({
  world,
}) => {
  let attempts = 0
  const work = world.db.transaction(async (tx) => {
    attempts++
    const first = tx.run(raw(attempts === 1 ? `do $$ begin raise sqlstate '40P01'; end $$` : 'select 1'))
    // Not awaited before the second one fails.
    first.catch(() => {})
    await tx.run(raw('select 2'))
    await first
    return 'done'
  })
  expect(await work).toBe('done')
  expect(attempts).toBe(2)
})

describe('concurrent statements of a transaction', () => {
  const setting = (value: string) => sql`select set_config('stithy.test', ${value}, true) as value`
  const shown = raw(`select current_setting('stithy.test', true) as value`)

  test('statements of a transaction run in order without being awaited', async ({ world }) => {
    const values = await world.db.transaction((tx) =>
      Promise.all([setting('one'), shown, setting('two'), shown].map((each) => tx.row({ value: text }, each))),
    )
    expect(values.map((row) => row!.value)).toEqual(['one', 'one', 'two', 'two'])
  })

  test('the first failure fails all later statements of a transaction and rolls it back', async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    const rename = sql`update users set name = 'Anna' where id = ${ann.id}`
    const work = world.db.transaction((tx) =>
      Promise.all([tx.run(rename), tx.run(raw('select 1 / 0')), tx.run(rename)]),
    )
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(await world.db.row({ name: text }, sql`select name from users where id = ${ann.id}`)).toEqual({
      name: 'Ann',
    })
  })

  test('a transaction does not commit when a caught statement failed', async ({ world }) => {
    const work = world.db.transaction((tx) => tx.run(raw('select 1 / 0')).catch(() => 'as if nothing were'))
    await expect(work).rejects.toThrow('nothing is committed')
  })
})

test('connections that are not used are closed, and are opened again when statements need them', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, { readers: 3, writers: 1, readerIdleMs: 200 })
  const usedConnections = async () => {
    const rows = []
    for (let n = 0; n < 3; n++) {
      rows.push(db.row(backend, raw('select pg_backend_pid() as pid from pg_sleep(0.1)')))
      await new Promise((resolve) => setImmediate(resolve))
    }
    return new Set((await Promise.all(rows)).map((row) => row!.pid))
  }
  const open = raw('select pid from pg_stat_activity')
  // On a busy machine one connection may have served all statements before another was open.
  const opened = new Set<number>()
  await eventually(async () => {
    for (const pid of await usedConnections()) opened.add(pid)
    expect(opened.size).toBeGreaterThan(1)
  })
  const stillOpen = async () =>
    (await world.db.rows({ pid: notNull(integer) }, open)).filter(({ pid }) => opened.has(pid)).length
  await expect.poll(stillOpen).toBe(0)
  expect((await usedConnections()).size).toBeGreaterThan(0)
})

test('statements that take long on half of the connections do not hold up others', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, { readers: 3, writers: 1 })
  const long: Promise<unknown>[] = []
  let isOver = false
  for (const _ of [1, 2]) {
    long.push(db.exists(raw('select pg_sleep(2)')).then(() => (isOver = true)))
    // Statements of one turn share a connection.
    await setTimeout(200)
  }
  await db.exists(raw('select 1'))
  expect(isOver).toBe(false)
  await Promise.all(long)
})

test('statements that wait for a lock hold up neither reads nor the changes of others', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, { readers: 2 })
  await world.db.run(raw('create table held (id integer primary key, value integer)'))
  try {
    await world.db.run(raw('insert into held values (1, 0), (2, 0)'))
    const set = (id: number) => sql`update held set value = value + 1 where id = ${id}`
    const { waiting } = await world.db.transaction(async (tx) => {
      await tx.run(raw('select from held where id = 1 for update'))
      const waiting = Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          // Statements of one turn share a connection.
          await setTimeout(5 * n)
          return db.for('user 1').run(n % 2 ? set(1) : raw('select from held where id = 1 for no key update'))
        }),
      )
      await world.waitsForLock()
      await setTimeout(100)
      expect(await db.for('user 1').exists(raw('select 1'))).toBe(true)
      expect(await db.for('user 2').run(set(2))).toBe(1)
      return { waiting }
    })
    expect(await waiting).toHaveLength(12)
    expect(await db.row({ value: nullable(integer) }, raw('select value from held where id = 1'))).toEqual({ value: 6 })
  } finally {
    await world.db.run(raw('drop table held'))
  }
})

test('what fails after a commit is reported, and the transaction is not repeated', async ({ world }) => {
  let runs = 0
  const work = world.db.transaction(async (tx) => {
    runs++
    // A deadlock, after which a transaction would be repeated.
    tx.afterCommit(() => Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' })))
    await tx.run(raw('select 1'))
  })
  await expect(work).rejects.toThrow('deadlock detected')
  expect(runs).toBe(1)
})

test('statements of each kind do not wait for those of another', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, {
    readers: 1,
    keyReaders: 1,
    pageReaders: 1,
    writers: 1,
  })
  const held = raw('select pg_advisory_xact_lock_shared(4)')
  const asked: Record<string, (statement: Statement) => Promise<unknown>> = {
    key: (statement) => db.exists(byKey(statement)),
    page: (statement) => db.exists(ofPage(statement)),
    other: (statement) => db.run(statement),
  }
  for (const [kind, ask] of Object.entries(asked)) {
    let isOver = false
    const others = Object.entries(asked).filter(([name]) => name !== kind)
    const waiting = await world.db.transaction(async (tx) => {
      await tx.run(raw('select pg_advisory_xact_lock(4)'))
      const waiting = ask(held).then(() => (isOver = true))
      await world.waitsForLock(1)
      for (const [, other] of others) await other(raw('select 1'))
      expect(isOver).toBe(false)
      return { waiting }
    })
    await waiting.waiting
  }
})

test('a database server that stops responding is a timeout', async ({ world }) => {
  const halves: Socket[] = []
  using proxy = await proxyOf(world.databaseUrl, (client, server) => {
    halves.push(client, server)
    client.pipe(server).pipe(client)
  })
  await withEnoughTime([1_000, 5_000, 30_000], async (answerTimeoutMs) => {
    await using db = openDatabase(proxy.url, { answerTimeoutMs })
    try {
      expect(await db.row({ one: integer }, raw('select 1 as one'))).toEqual({ one: 1 })
      for (const half of halves) half.unpipe()
      const lost = { name: 'Failure', kind: 'unavailable' }
      await expect(db.row({ one: integer }, raw('select 1 as one'))).rejects.toMatchObject(lost)
      // A new connection may work.
      expect(await db.row({ one: integer }, raw('select 1 as one'))).toEqual({ one: 1 })
    } finally {
      for (const half of halves.splice(0)) half.destroy()
    }
  })
})

test('a statement may take longer than the limits of others in a transaction that allows it, and in no other', async ({
  world,
}) => {
  await withEnoughTime([400, 2_000, 6_000], async (answerTimeoutMs) => {
    const url = new URL(world.databaseUrl)
    url.searchParams.set('statement_timeout', String(answerTimeoutMs / 2))
    await using db = openDatabase(url.href, { answerTimeoutMs, writers: 1 })
    const slow = raw(`select pg_sleep(${(3 * answerTimeoutMs) / 1000})`)
    await db.transaction(async (tx) => {
      await tx.allowLongStatements()
      await tx.run(slow)
    })
    await expect(db.transaction((tx) => tx.run(slow))).rejects.toMatchObject({ name: 'Failure', kind: 'unavailable' })
  })
})

describe('shares of statements outside of transactions', () => {
  const sleep = raw('select pg_sleep(0.02)')

  test('a caller with many statements does not hold up the statement of another', async () => {
    await using world = await World.start()
    const [many, other] = [world.db.for('user 1'), world.db.for('user 2')]
    let open = 200
    const all = Promise.all(Array.from({ length: open }, () => many.run(sleep).finally(() => open--)))
    await other.run(sleep)
    // In one queue for all callers it would have been answered last. Those that were sent before come first.
    expect(open).toBeGreaterThan(180)
    await all
  })

  test('callers whose statements take long leave a connection to others, also between their statements', async ({
    world,
  }) => {
    await using db = openDatabase(world.databaseUrl, { readers: 3, writers: 1 })
    let ended = 0
    let isOver = false
    const manyInTurn = async (caller: string): Promise<void> => {
      while (!isOver) {
        await db.for(caller).exists(raw('select pg_sleep(0.5)'))
        ended++
      }
    }
    const many: Promise<void>[] = []
    try {
      for (let loop = 0; loop < 12; loop++) {
        many.push(manyInTurn(`user ${1 + (loop % 3)}`))
        await setTimeout(100)
      }
      // Those in the way end first.
      const left = ended + 12
      await eventually(() => expect(ended).toBeGreaterThan(left))
      let waits = 0
      for (let each = 0; each < 10; each++) {
        const before = ended
        await db.for('user 9').exists(raw('select 1'))
        if (ended - before > 1) waits++
        await setTimeout(100)
      }
      // One or another, if the machine stood still for longer than it is remembered whose statements took long.
      expect(waits).toBeLessThan(4)
    } finally {
      isOver = true
      await Promise.all(many)
    }
  })

  test('a statement that waits for its turn is dropped when the client disconnects', async () => {
    await using world = await World.start()
    const client = new AbortController()
    const db = world.db.for('user 1', { signal: client.signal })
    const outcomes = Promise.allSettled(Array.from({ length: 100 }, () => db.run(sleep)))
    client.abort(new Error('the client disconnected'))
    const dropped = (await outcomes).filter((each) => each.status === 'rejected')
    expect(dropped.length).toBeGreaterThan(50)
    expect(dropped.map(({ reason }) => reason.message)).toEqual(dropped.map(() => 'the client disconnected'))
    expect(await world.db.for('user 1').exists(raw('select 1'))).toBe(true)
  })

  test('429 for a caller with too many statements that wait', async () => {
    await using world = await World.start()
    const db = world.db.for('user 1')
    const outcomes = await Promise.allSettled(Array.from({ length: 700 }, () => db.run(raw('select 1'))))
    const refused = outcomes.filter((each) => each.status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.reason).toMatchObject({ kind: 'rate_limited' })
  })
})
