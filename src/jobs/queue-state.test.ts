import { expect } from 'vitest'
import { jobRows, lockJob, queueJob, setAttempts, takenAgo } from '../../test/jobs.ts'
import { test, World } from '../../test/world.ts'
import { checkJobs, queueState } from './queue-state.ts'

/** Queues a job that no process runs, ten minutes late. */
const queueUnknown = (world: World, queue: string | null = null) => queueJob(world, 'no_such_task', queue, 10)
const readiness = async (world: World) => (await world.anonymous.get('//-/readiness')).json
/** The result of a round of checks is kept for a second. */
const expectReadiness = (world: World) => expect.poll(() => readiness(world))

test('readiness fails with the time of the last job when due jobs are not taken', async () => {
  await using world = await World.start()
  expect(await checkJobs(world.db)).toEqual({ status: 'ok', oldest_due_seconds: 0, last_taken_at: null })
  await queueUnknown(world)
  // A service whose jobs process never started reports the age; that process is not ready before it takes a job.
  expect((await readiness(world)).status).toBe('ok')
  const taken = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  await takenAgo(world, 1)
  await expectReadiness(world).toMatchObject({ status: 'ok', jobs_check: [{ status: 'ok', last_taken_at: taken }] })
  await takenAgo(world, 8)
  await expectReadiness(world).toMatchObject({
    status: 'failed',
    jobs_check: [
      {
        status: 'failed',
        message: 'no jobs are taken',
        oldest_due_seconds: expect.closeTo(600, -2),
        last_taken_at: taken,
      },
    ],
  })
})

test('a job that waits for another of its queue is not due', async () => {
  await using world = await World.start()
  await queueUnknown(world, 'one')
  await queueUnknown(world, 'one')
  expect((await queueState(world.db)).oldest_due_seconds).toBeGreaterThan(500)
  await queueJob(world, 'other', 'one')
  await lockJob(world, (await jobRows(world))[0]!)
  expect(await queueState(world.db)).toMatchObject({ oldest_due_seconds: 0, running: 1 })
})

test('jobs are counted by state', async () => {
  await using world = await World.start()
  const { oldest_due_seconds: before, ...none } = await queueState(world.db)
  expect([before, none]).toEqual([
    0,
    { last_taken_at: null, idle_seconds: null, running: 0, due: 0, scheduled: 0, retrying: 0, failed: 0 },
  ])
  // Two due, one of them behind a running one; two later, one of them after a failure; one that failed for good.
  await queueUnknown(world, 'one')
  await queueUnknown(world, 'one')
  await queueJob(world, 'due', null, 5)
  await queueJob(world, 'scheduled', null, -5)
  await queueJob(world, 'retrying', null, -5)
  await queueJob(world, 'failed', null, 20)
  const [first, , , , retrying, failed] = await jobRows(world)
  await lockJob(world, first!)
  await setAttempts(world, retrying!, 1)
  await setAttempts(world, failed!, failed!.max_attempts)
  const state = await queueState(world.db)
  expect(state).toMatchObject({ running: 1, due: 2, scheduled: 1, retrying: 1, failed: 1 })
  expect(state.oldest_due_seconds).toBeCloseTo(300, -2)
})

test('metrics have the age of the oldest due job and the time the last one was taken', async () => {
  await using world = await World.start()
  await queueUnknown(world)
  await takenAgo(world, 8)
  const { text } = await world.anonymous.get('//-/metrics')
  const figure = (name: string) => Number(new RegExp(`^stithy_${name} (.+)$`, 'm').exec(text)?.[1])
  expect(figure('jobs_oldest_due_seconds')).toBeGreaterThan(500)
  expect(figure('jobs_last_taken_timestamp_seconds')).toBeGreaterThan(1e9)
})
