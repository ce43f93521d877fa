import { pino } from 'pino'
import { Type } from 'typebox'
import { describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { TcpProxy } from '../../test/tcp-proxy.ts'
import { test, World } from '../../test/world.ts'
import { DatabaseLost } from '../db/connection-errors.ts'
import { enqueue, job } from './job.ts'
import { type JobRunner, startJobs } from './runner.ts'

/** For runners that must not fail. */
const fail = (error: Error) => {
  throw error
}

describe('a slow database', () => {
  const counted = (onRun: () => void) =>
    job({ name: 'counted_once', input: Type.Object({}), attempts: 25, run: async () => onRun() })

  /** A database behind a proxy, and a start of a runner through it. */
  async function behindProxy() {
    const world = await World.start()
    const ctx = await contextFor(world, null)
    const url = new URL(world.databaseUrl)
    const proxy = await TcpProxy.start(`${url.searchParams.get('host')}/.s.PGSQL.5432`)
    url.searchParams.delete('host')
    url.host = `127.0.0.1:${proxy.port}`
    return { world, ctx, proxy, databaseUrl: url.toString() }
  }

  /** Number of failed starts before the database answers. */
  const lateFor = { failures: 2 }
  const times = { start: 3000, connect: 500, probe: 100, idle: 3000 }

  /** Starts runners until one takes jobs, as the jobs process does. */
  async function startAtLast(options: Parameters<typeof startJobs>[0], lost: () => void): Promise<JobRunner> {
    for (;;) {
      try {
        return await startJobs(options)
      } catch (error) {
        expect(error).toBeInstanceOf(DatabaseLost)
        lost()
      }
    }
  }

  test.for([1, 2, 3, 4, 5, 6, 7, 8])(
    'jobs run although connection %d of the runner is held at its start',
    async (ordinal) => {
      const { world, ctx, proxy, databaseUrl } = await behindProxy()
      await using _world = world
      await using _proxy = proxy
      const { promise: ran, resolve } = Promise.withResolvers<void>()
      const work = counted(resolve)
      proxy.hold((n) => n === ordinal)
      const log = pino({ level: 'silent' })
      const options = { databaseUrl, jobs: [work], open: async () => ctx, log, onBroken: fail, times }
      const runner = await startAtLast(options, () => {})
      await ctx.transaction((tx) => enqueue(tx, work, {}))
      await ran
      await runner.stop()
    },
  )

  test('jobs run when the database becomes available', async () => {
    const { world, ctx, proxy, databaseUrl } = await behindProxy()
    await using _world = world
    await using _proxy = proxy
    const { promise: ran, resolve } = Promise.withResolvers<void>()
    const work = counted(resolve)
    await ctx.transaction((tx) => enqueue(tx, work, {}))
    proxy.hold(() => true)
    const log = pino({ level: 'silent' })
    let failures = 0
    const options = { databaseUrl, jobs: [work], open: async () => ctx, log, onBroken: fail, times }
    const runner = await startAtLast(options, () => {
      if (++failures === lateFor.failures) proxy.release()
    })
    await ran
    await runner.stop()
    expect(failures).toBeGreaterThanOrEqual(lateFor.failures)
  })

  test('a runner that stops taking jobs reports it', async () => {
    const { world, ctx, proxy, databaseUrl } = await behindProxy()
    await using _world = world
    await using _proxy = proxy
    const { promise: broken, resolve } = Promise.withResolvers<Error>()
    const log = pino({ level: 'silent' })
    const runner = await startJobs({
      ...{ databaseUrl, jobs: [], open: async () => ctx, log, onBroken: resolve },
      times: { ...times, idle: 500 },
    })
    // The rest of the service still has its database, so the probe is queued and not taken.
    proxy.freeze()
    expect((await broken).message).toBe('No job was taken for 0.5 s, although jobs are waiting')
    proxy.release()
    await runner.stop()
  })
})
