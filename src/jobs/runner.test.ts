import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Type } from 'typebox'
import { afterAll, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { test, World } from '../../test/world.ts'
import { enqueue, job } from './job.ts'
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

test('a job that rests takes a tenth of the time, and what comes too soon waits for its turn', async () => {
  own ??= World.start()
  const world = await own
  const began: number[] = []
  const { promise: both, resolve } = Promise.withResolvers<void>()
  const slow = job({
    name: 'slow',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `slow:${n}`,
    rests: true,
    attempts: 3,
    async run({ n }, ctx) {
      if (began.push(performance.now()) === 2) return resolve()
      await delay(100)
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
  })
  await both
  await runner.stop()
  expect(began[1]! - began[0]!).toBeGreaterThanOrEqual(950)
})
