import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { withEnoughTime } from '../../test/waiting.ts'
import { test } from '../../test/world.ts'
import { openDatabase } from './database.ts'
import { integer, text } from './row.ts'
import { raw, sql } from './sql.ts'

const backend = { pid: integer }
const ownPid = raw('select pg_backend_pid() as pid')

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

test('the row cache is outdated when a transaction has ended', async ({ world }) => {
  const row = sql`select username from users where id = 1`
  await world.db.kept.row({ username: text }, row)
  expect(world.db.kept.expects(row)).toBe(true)
  await world.db.transaction((tx) => tx.run(raw('select 1')))
  expect(world.db.kept.expects(row)).toBe(false)
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

test('a database server that stops responding is a timeout', async ({ world }) => {
  const target = new URL(world.databaseUrl)
  const folder = target.searchParams.get('host') ?? decodeURIComponent(target.hostname)
  const place = folder.startsWith('/')
    ? `${folder}/.s.PGSQL.${target.port || target.searchParams.get('port') || 5432}`
    : undefined
  const halves: Socket[] = []
  const between = createServer((client) => {
    const server = place ? connect(place) : connect(Number(target.port), target.hostname)
    for (const half of [client, server]) halves.push(half.on('error', () => {}))
    client.pipe(server).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(between, 'listening')
  const url = new URL(target)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`
  await withEnoughTime([1_000, 5_000, 30_000], async (patienceMs) => {
    await using db = openDatabase(url.href, { patienceMs })
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
  between.close()
})
