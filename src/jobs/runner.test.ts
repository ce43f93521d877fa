import { pino } from 'pino'
import { Type } from 'typebox'
import { afterAll, describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { test, World } from '../../test/world.ts'
import { enqueue, job } from './job.ts'
import { Rests } from './rests.ts'
import { startJobs } from './runner.ts'

let own: Promise<World> | undefined
afterAll(async () => (await own)?.[Symbol.asyncDispose]())

test('jobs that a killed runner held, and those behind them in their queue, run after the next start', async () => {
  own = World.start()
  const world = await own
  const ran: number[] = []
  const { promise: both, resolve } = Promise.withResolvers<void>()
  const counted = job({
    name: 'counted',
    input: Type.Object({ n: Type.Integer() }),
    queue: () => 'counted',
    attempts: 3,
    async run({ n }) {
      if (ran.push(n) === 2) resolve()
    },
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction(async (tx) => {
    await enqueue(tx, counted, { n: 1 })
    await enqueue(tx, counted, { n: 2 })
  })
  await world.rows(`update graphile_worker._private_job_queues set locked_at = now(), locked_by = 'killed'`)
  await world.rows(`update graphile_worker._private_jobs set locked_at = now(), locked_by = 'killed', attempts = 1
    where payload->>'n' = '1'`)
  const runner = await startJobs({
    databaseUrl: world.databaseUrl,
    jobs: [counted],
    open: async () => ctx,
    log: pino({ level: 'silent' }),
  })
  await both
  await runner.stop()
  expect(ran.sort()).toEqual([1, 2])
})

test('a job that rests runs again only after its rest, and waits until then', async () => {
  own ??= World.start()
  const world = await own
  let now = 0
  let looks = 0
  const rests = new Rests(() => {
    looks++
    return now
  })
  let runs = 0
  const { promise: both, resolve } = Promise.withResolvers<void>()
  const slow = job({
    name: 'slow',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `slow:${n}`,
    rests: true,
    attempts: 3,
    async run({ n }, ctx) {
      if (++runs === 2) return resolve()
      await ctx.transaction((tx) => enqueue(tx, slow, { n }))
    },
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction((tx) => enqueue(tx, slow, { n: 1 }))
  const runner = await startJobs({
    databaseUrl: world.databaseUrl,
    jobs: [slow],
    open: async () => ctx,
    log: pino({ level: 'silent' }),
    rests,
  })
  // One look before the first run, one at its end, and one for each time that the second run comes too soon.
  await expect.poll(() => looks).toBeGreaterThan(3)
  expect(runs).toBe(1)
  now = 5 * 60_000
  await both
  await runner.stop()
})

describe('a rest', () => {
  test('is nine times as long as the work took, and five minutes at most', () => {
    let now = 1_000
    const rests = new Rests(() => now)
    expect(rests.left('a')).toBe(0)
    rests.begin('a', 100)
    rests.begin('b', 3_600_000)
    expect([rests.left('a'), rests.left('b'), rests.left('c')]).toEqual([900, 300_000, 0])
    now += 899
    expect(rests.left('a')).toBe(1)
    now += 1
    expect(rests.left('a')).toBe(0)
  })
})
