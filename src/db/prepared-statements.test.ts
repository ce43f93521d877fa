import { expect } from 'vitest'
import { test } from '../../test/world.ts'
import { openDatabase } from './database.ts'
import { integer, notNull, text } from './row.ts'
import { raw } from './sql.ts'

const preparedTexts = raw('select statement as text from pg_prepared_statements')
/** Statements of a few hundred characters, each with another text. */
const various = Array.from({ length: 60 }, (_, n) => raw(`select ${n} as n, '${String(n).repeat(200)}' as filler`))
const each = { n: integer, filler: text }

test('a connection prepares frequent statements only, and closes those that it has not used for longest', async ({
  world,
}) => {
  const bytes = 100_000
  await using db = openDatabase(world.databaseUrl, { readers: 1, writers: 1, preparedBytes: bytes })
  await db.rows(each, various[0]!)
  expect(await db.rows({ text: notNull(text) }, preparedTexts)).toEqual([])
  for (let round = 0; round < 5; round++)
    for (const statement of various) expect(await db.rows(each, statement)).toHaveLength(1)
  const texts = (await db.rows({ text: notNull(text) }, preparedTexts)).map((row) => row.text)
  expect(texts).toContain(various.at(-1)!.text)
  expect(texts).not.toContain(various[0]!.text)
  expect(texts.join('').length * 100).toBeLessThanOrEqual(bytes)
})

test('statements return their rows while others close them, in transactions, too', async ({ world }) => {
  await using db = openDatabase(world.databaseUrl, { readers: 1, writers: 1, preparedBytes: 60_000 })
  const expected = various.map((_, n) => n)
  const numbers = (rows: readonly { n: number }[][]) => rows.map(([row]) => row!.n)
  for (let round = 0; round < 6; round++) {
    expect(numbers(await Promise.all(various.map((statement) => db.rows(each, statement))))).toEqual(expected)
    const written = await db.transaction((tx) => Promise.all(various.map((statement) => tx.rows(each, statement))))
    expect(numbers(written)).toEqual(expected)
  }
  expect((await db.rows({ text: notNull(text) }, preparedTexts)).length).toBeLessThan(various.length)
})

test('a failed statement of a transaction does not break the statements that the connection has prepared', async ({
  world,
}) => {
  await using db = openDatabase(world.databaseUrl, { readers: 1, writers: 1, preparedBytes: 60_000 })
  for (let round = 0; round < 6; round++) {
    const failing = db.transaction((tx) =>
      Promise.all([raw('select 1 / 0 as n'), ...various].map((statement) => tx.run(statement))),
    )
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    const rows = await db.transaction((tx) => Promise.all(various.map((statement) => tx.rows(each, statement))))
    expect(rows.map(([row]) => row!.n)).toEqual(various.map((_, n) => n))
  }
})
