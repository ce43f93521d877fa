import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { jobRows, lockJob, takeableJobs } from '../../test/jobs.ts'
import { test, unique, type World } from '../../test/world.ts'
import { enqueue, job } from './job.ts'

const minute = 60_000

/** A job that no runner runs here. */
const noted = job({
  name: 'noted',
  input: Type.Object({ key: Type.String(), n: Type.Integer() }),
  key: ({ key }) => key,
  attempts: 3,
  run: async () => {},
})

const rowsOf = async (world: World, key: string) => (await jobRows(world)).filter(({ payload }) => payload.key === key)

describe('a delayed job', () => {
  test('is not added again while it waits, unless its input differs', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const key = unique('noted')
    const add = (n: number) => ctx.transaction((tx) => enqueue(tx, noted, { key, n }, minute))
    const waiting = async () => (await rowsOf(world, key)).map(({ payload, revision }) => [payload.n, revision])
    await add(1)
    await add(1)
    expect(await waiting()).toEqual([[1, 0]])
    await add(2)
    expect(await waiting()).toEqual([[2, 1]])
  })

  test('does not start before each transaction that added it has committed', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const input = { key: unique('noted'), n: 1 }
    const add = (work = async () => {}) =>
      ctx.transaction(async (tx) => {
        await enqueue(tx, noted, input, minute)
        await work()
      })
    await add()
    await add(async () => expect(await takeableJobs(world, input.key)).toEqual([]))
    expect(await takeableJobs(world, input.key)).toHaveLength(1)
  })

  test('is added again once it runs, because it may have read the state before', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const input = { key: unique('noted'), n: 1 }
    const add = () => ctx.transaction((tx) => enqueue(tx, noted, input, minute))
    await add()
    await lockJob(world, (await rowsOf(world, input.key))[0]!)
    await add()
    expect(await rowsOf(world, input.key)).toHaveLength(2)
  })
})
