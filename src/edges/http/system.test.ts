import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { describe, expect, vi } from 'vitest'
import { takenAgo } from '../../../test/jobs.ts'
import { test, type World } from '../../../test/world.ts'
import type { Db } from '../../db/db.ts'
import { TestGit } from '../../git/testing.ts'
import type { Load } from '../../kernel/shares.ts'
import type { HttpContext } from './context.ts'
import { systemRoutes } from './system.ts'

/** Readiness of a separate runner, so that full lanes do not block other tests. */
async function readinessOver(
  world: World,
  {
    db = world.db as Db,
    databaseLoads = () => world.db.loads() as Record<string, Load>,
    pingBlobs = async (): Promise<void> => {},
  } = {},
) {
  const git = await TestGit.start()
  const { runner, folder } = git
  const app = Fastify()
  systemRoutes({ db } as Partial<HttpContext> as HttpContext, {
    runner,
    databaseLoads,
    blobs: { ping: pingBlobs },
    dataDir: folder,
    metrics: async () => '',
    metricsFrom: [],
    stuckAfterMs: 10,
  })(app)
  return { runner, git, look: async () => (await app.inject('/-/readiness')).json() }
}

const slow = ['-c', 'alias.slow=!sleep 1000', 'slow']

describe('readiness', () => {
  // The jobs of other tests wait until a test runs them.
  test.beforeEach(async ({ world }) => takenAgo(world, 0))

  test('readiness is ok with a check of each part, including lanes and pools', async ({ world }) => {
    const { status, json } = await world.anonymous.get('//-/readiness')
    const ok = [{ status: 'ok' }]
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        status: 'ok',
        database_check: ok,
        database_pool_check: ok,
        disk_check: ok,
        blobs_check: ok,
        git_runner_check: ok,
        git_lane_check: ok,
        jobs_check: [expect.objectContaining({ status: 'ok' })],
      },
    })
  })

  test('readiness fails and names the lane while all its slots are held and a request waits', async ({ world }) => {
    const { runner, git, look } = await readinessOver(world)
    await using _git = git
    const { slots } = (await runner.loads()).transfer
    const start = (caller: string) => runner.start(slow, { lane: 'transfer', caller })
    const held = await Promise.all(Array.from({ length: slots }, (_, index) => start(`caller ${index}`)))
    expect(await look()).toMatchObject({ status: 'ok' })
    const waiting = start('one more')
    await expect.poll(look).toMatchObject({
      status: 'failed',
      git_runner_check: [{ status: 'ok' }],
      git_lane_check: [{ status: 'failed', message: expect.stringMatching(/^the lane transfer is stuck: /) }],
    })
    for (const child of held) child.kill('SIGKILL')
    await waiting
    await expect.poll(look).toMatchObject({ status: 'ok' })
  })

  test('probes that come at once or within a second ask each part once, and later ones again', async ({ world }) => {
    const asked = { database: 0, blobs: 0 }
    const row: Db['row'] = (shape, statement) => {
      asked.database++
      return world.db.row(shape, statement)
    }
    const { runner, git, look } = await readinessOver(world, {
      db: { ...world.db, row },
      pingBlobs: async () => {
        asked.blobs++
      },
    })
    await using _git = git
    const pings = vi.spyOn(runner, 'ping')
    const answers = await Promise.all(Array.from({ length: 20 }, look))
    for (const answer of answers) expect(answer).toMatchObject({ status: 'ok' })
    expect([asked.database, asked.blobs, pings.mock.calls.length]).toEqual([1, 1, 1])
    await expect.poll(async () => [(await look()).status, asked.blobs]).toEqual(['ok', 2])
  })

  test('a part that gives no answer is not asked again while it is asked', async ({ world }) => {
    let asked = 0
    const answer = Promise.withResolvers<void>()
    const { git, look } = await readinessOver(world, {
      pingBlobs: () => {
        asked++
        return answer.promise
      },
    })
    await using _git = git
    const failed = { status: 'failed', blobs_check: [{ status: 'failed', message: 'no answer in time' }] }
    expect(await look()).toMatchObject(failed)
    await setTimeout(1_100)
    expect(await look()).toMatchObject(failed)
    expect(asked).toBe(1)
    answer.resolve()
    await expect.poll(look).toMatchObject({ status: 'ok' })
  })

  test('readiness fails and names the pool while all its connections are held', async ({ world }) => {
    const load: Load = { slots: 10, running: 10, waiting: 3, oldestWaitMs: 40_000 }
    const { git, look } = await readinessOver(world, { databaseLoads: () => ({ writers: load }) })
    await using _git = git
    expect(await look()).toMatchObject({
      database_pool_check: [
        {
          status: 'failed',
          message: 'the pool of database writers is stuck: 10 of 10 slots held, 3 waiting, the oldest for 40 s',
        },
      ],
    })
  })
})

test('metrics show running and waiting work of each lane and pool', async ({ world }) => {
  const { text } = await world.anonymous.get('//-/metrics')
  for (const lane of ['short', 'transfer', 'helper'])
    for (const figure of ['running', 'waiting', 'oldest_wait_seconds'])
      expect(text).toMatch(new RegExp(`^stithy_git_lane_${figure}\\{lane="${lane}"\\} \\d`, 'm'))
  for (const pool of ['readers', 'writers', 'single_writers'])
    expect(text).toMatch(new RegExp(`^stithy_database_pool_waiting\\{pool="${pool}"\\} \\d`, 'm'))
})
