import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { test, unique } from '../../test/world.ts'
import { enqueue, job } from './job.ts'

const minute = 60_000

/** No runner takes this job here. */
const noted = job({
  name: 'noted',
  input: Type.Object({ key: Type.String(), n: Type.Integer() }),
  key: ({ key }) => key,
  attempts: 3,
  run: async () => {},
})

describe('delayed jobs', () => {
  test('a delayed job that is already queued is not added again unless its input differs', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const key = unique('noted')
    const add = (n: number) => ctx.transaction((tx) => enqueue(tx, noted, { key, n }, minute))
    const waiting = () =>
      world.rows(`select payload->>'n' as n, revision from graphile_worker._private_jobs where key = '${key}'`)
    await add(1)
    await add(1)
    expect(await waiting()).toEqual([{ n: '1', revision: 0 }])
    await add(2)
    expect(await waiting()).toEqual([{ n: '2', revision: 1 }])
  })

  test('a delayed job is locked until every transaction that enqueued it has committed', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const input = { key: unique('noted'), n: 1 }
    const add = (work = async () => {}) =>
      ctx.transaction(async (tx) => {
        await enqueue(tx, noted, input, minute)
        await work()
      })
    // The way the runner takes jobs.
    const free = () =>
      world.rows(`select id from graphile_worker._private_jobs where key = '${input.key}' for update skip locked`)
    await add()
    await add(async () => expect(await free()).toEqual([]))
    expect(await free()).toHaveLength(1)
  })

  test('a job that has started is enqueued again, since it may have read old data', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const input = { key: unique('noted'), n: 1 }
    const add = () => ctx.transaction((tx) => enqueue(tx, noted, input, minute))
    await add()
    await world.rows(`update graphile_worker._private_jobs set locked_at = now() where key = '${input.key}'`)
    await add()
    expect(
      await world.rows(`select id from graphile_worker._private_jobs where payload->>'key' = '${input.key}'`),
    ).toHaveLength(2)
  })
})
