import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { installedVersion } from '../../test/installed-version.ts'
import { test as withWorld } from '../../test/world.ts'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import { type Columns, read, streamOf } from './pg-internals.ts'
import { PreparedStatements } from './prepared-statements.ts'

test('pg has the version whose internals we use', () => {
  expect(installedVersion('pg')).toBe('8.23.1')
})

test('pg.Query has the methods and fields that a read overrides and fills', () => {
  expect(pg.Query.prototype).toMatchObject({
    prepare: expect.any(Function),
    handleRowDescription: expect.any(Function),
    handleDataRow: expect.any(Function),
  })
  const query = new pg.Query({ text: 'select 1', name: 'one' }) as any
  expect(query).toMatchObject({ name: 'one', _canceledDueToError: false, _result: { rows: [], fields: [] } })
  expect(Object.keys(query._result)).toEqual(expect.arrayContaining(['_parsers', '_prebuiltEmptyResultObject']))
  expect(query._result.parseRow).toBeTypeOf('function')
})

withWorld(
  'a frequent statement is described once for each connection, and returns the same rows each time',
  async ({ world }) => {
    const client = new pg.Client({ ...connectionOptions(world.databaseUrl, 'test'), pipeline: true } as pg.ClientConfig)
    await client.connect()
    try {
      const describe = vi.spyOn((client as any).connection, 'describe')
      const statements = new PreparedStatements<Columns>()
      const run = (n: number) =>
        read(client, statements, {
          text: `select $1::int as n, now() is null as "no", '{"a":1}'::json as j`,
          values: [n],
        })
      const unprepared = 3
      for (const n of [1, 2, 3, 4, 5, 6, 7]) expect((await run(n)).rows).toEqual([{ n, no: false, j: { a: 1 } }])
      expect(describe).toHaveBeenCalledTimes(unprepared + 1)
    } finally {
      await client.end()
    }
  },
)

withWorld('a response that cannot be read fails its connection, and not the process', async ({ world }) => {
  const client = new pg.Client({ ...connectionOptions(world.databaseUrl, 'test'), pipeline: true } as pg.ClientConfig)
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  client.on('error', () => {})
  await client.connect()
  const unreadable = () => {
    throw new RangeError('the text is too long')
  }
  ;(client as any).connection.prependListener('dataRow', unreadable)
  const statement = { text: 'select 1 as one', values: [] }
  await expect(mapConnectionError(read(client, new PreparedStatements<Columns>(), statement))).rejects.toMatchObject({
    kind: 'unavailable',
    cause: { cause: { message: 'the text is too long' } },
  })
  await ended
})

withWorld('a corked stream sends nothing until it is uncorked', async ({ world }) => {
  const client = new pg.Client({ ...connectionOptions(world.databaseUrl, 'test'), pipeline: true } as pg.ClientConfig)
  await client.connect()
  try {
    const stream = streamOf(client)
    const socket = stream as unknown as { bytesWritten: number; writableLength: number }
    stream.cork()
    const row = client.query('select 1 as one')
    expect(socket.writableLength).toBeGreaterThan(0)
    stream.uncork()
    expect((await row).rows).toEqual([{ one: 1 }])
  } finally {
    await client.end()
  }
})
