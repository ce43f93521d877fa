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
