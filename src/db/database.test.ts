import { expect } from 'vitest'
import { test } from '../../test/world.ts'
import { raw, sql } from './sql.ts'

type Backend = { pid: number }
const ownPid = raw('select pg_backend_pid() as pid')

test('a connection that is cut off in a transaction fails what it was used for, and nothing else', async ({
  world,
}) => {
  const transaction = world.db.transaction(async (tx) => {
    const { pid } = (await tx.row<Backend>(ownPid))!
    await world.db.rows(sql`select pg_terminate_backend(${pid}::integer)`)
    await tx.rows(ownPid)
  })
  await expect(transaction).rejects.toMatchObject({ name: 'Failure', kind: 'unavailable' })
  expect(await world.db.transaction((tx) => tx.row<Backend>(ownPid))).toMatchObject({ pid: expect.any(Number) })
})

test('a statement that breaks a rule is no loss of the database', async ({ world }) => {
  await expect(world.db.rows(raw('select 1 / 0'))).rejects.toMatchObject({ code: '22012' })
})

test('a transaction that names a row that has just gone is run again', async ({ world }) => {
  let attempts = 0
  const work = world.db.transaction(async (tx) => {
    attempts++
    if (attempts === 1) await tx.run(raw(`insert into group_access values (-1, -1, 10, 'infinity')`))
    return 'done'
  })
  expect([await work, attempts]).toEqual(['done', 2])
})
