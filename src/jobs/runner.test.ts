import { pino } from 'pino'
import { Type } from 'typebox'
import { afterAll, describe, expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { delayOf, failJobsWithoutKey, jobRows, lockJob, queueNames } from '../../test/jobs.ts'
import { waitMs } from '../../test/waiting.ts'
import { test, World } from '../../test/world.ts'
import type { Ctx } from '../api/ctx.ts'
import { dequeue, enqueue, enqueueEach, type Job, job } from './job.ts'
import { queueState } from './queue-state.ts'
import { type JobRunnerOptions, startJobs } from './runner.ts'
import { Throttle } from './throttle.ts'

/** For runners that must not fail. */
const fail = (error: Error) => {
  throw error
}

const startRunner = (world: World, ctx: Ctx, jobs: readonly Job<any>[], more: Partial<JobRunnerOptions> = {}) =>
  startJobs({
    databaseUrl: world.databaseUrl,
    jobs,
    open: async () => ctx,
    log: pino({ level: 'silent' }),
    onBroken: fail,
    ...more,
  })

let own: Promise<World> | undefined
afterAll(async () => (await own)?.[Symbol.asyncDispose]())

test('jobs locked by a killed runner, and those queued behind them, run after the next start', async () => {
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
  await lockJob(world, (await jobRows(world)).find(({ payload }) => payload.n === 1)!, 'killed')
  const runner = await startRunner(world, ctx, [counted])
  await both
  await runner.stop()
  expect(ran.sort()).toEqual([1, 2])
})

test('a job that was added again while it ran, and was killed then, does not stay in the queue as failed', async () => {
  own ??= World.start()
  const world = await own
  const ran = Promise.withResolvers<void>()
  const again = job({
    name: 'added_again',
    input: Type.Object({}),
    key: () => 'added_again',
    attempts: 3,
    run: async () => ran.resolve(),
  })
  const failed = job({ name: 'failed_without_key', input: Type.Object({}), attempts: 1, run: fail })
  const ctx = await contextFor(world, null)
  const add = () => ctx.transaction((tx) => enqueue(tx, again, {}))
  await ctx.transaction((tx) => enqueue(tx, failed, {}))
  await failJobsWithoutKey(world)
  await add()
  await lockJob(world, (await jobRows(world)).find(({ key }) => key === 'added_again')!, 'killed')
  await add()
  const before = await queueState(ctx.db)
  const runner = await startRunner(world, ctx, [again, failed])
  await ran.promise
  await runner.stop()
  expect([before.running, (await queueState(ctx.db)).failed]).toEqual([1, before.failed])
})

test('a throttled job waits in the queue until its pause is over', async () => {
  own ??= World.start()
  const world = await own
  let now = 0
  let checks = 0
  const throttle = new Throttle(() => {
    checks++
    return now
  })
  let runs = 0
  const { promise: both, resolve } = Promise.withResolvers<void>()
  const slow = job({
    name: 'slow',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `slow:${n}`,
    throttled: true,
    attempts: 3,
    async run({ n }, ctx) {
      if (++runs === 2) return resolve()
      await ctx.transaction((tx) => enqueue(tx, slow, { n }))
    },
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction((tx) => enqueue(tx, slow, { n: 1 }))
  const runner = await startRunner(world, ctx, [slow], {
    throttle,
  })
  // One check before the first run, one at its end, and one for each early attempt at the second run.
  await expect.poll(() => checks).toBeGreaterThan(3)
  expect(runs).toBe(1)
  now = 5 * 60_000
  await both
  await runner.stop()
})

describe('shares of the slots of quick jobs', () => {
  /** A job that runs until `open` is called; `running` has the texts of those that run, `done` of those that have ended. */
  function gated(name: string) {
    const gate = Promise.withResolvers<void>()
    const [running, done]: [string[], string[]] = [[], []]
    const one = job({
      name,
      input: Type.Object({ text: Type.String() }),
      key: ({ text }) => `${name}:${text}`,
      attempts: 3,
      async run({ text }) {
        running.push(text)
        await gate.promise
        running.splice(running.indexOf(text), 1)
        done.push(text)
      },
    })
    return { one, running, done, open: () => gate.resolve() }
  }

  const texts = (of: string, count: number) => Array.from({ length: count }, (_, n) => ({ text: `${of} ${n}` }))

  const starting = async (world: World, ...jobs: Job<any>[]) => {
    const ctx = await contextFor(world, null)
    return startRunner(world, ctx, jobs, {
      concurrency: 6,
    })
  }

  test('the jobs of one user take half of the slots at most, also those that their jobs enqueue, and others get through', async () => {
    own ??= World.start()
    const world = await own
    const [ann, bob] = [await world.user(), await world.user()]
    const { one, running, done, open } = gated('of_users')
    const many = job({
      name: 'makes_many',
      input: Type.Object({}),
      attempts: 3,
      run: async (_input, ctx) => void (await ctx.transaction((tx) => enqueueEach(tx, one, texts('ann', 30)))),
    })
    const runner = await starting(world, one, many)
    await (await contextFor(world, ann)).transaction((tx) => enqueue(tx, many, {}))
    await expect.poll(() => running, { timeout: waitMs }).toHaveLength(3)
    await (await contextFor(world, bob)).transaction((tx) => enqueueEach(tx, one, texts('bob', 1)))
    await expect.poll(() => running, { timeout: waitMs }).toContain('bob 0')
    expect(running.filter((text) => text.startsWith('ann'))).toHaveLength(3)
    open()
    await expect.poll(() => done, { timeout: waitMs }).toHaveLength(31)
    await runner.stop()
    expect(new Set(done).size).toBe(31)
  })

  test('the jobs of one name that the service enqueues take half of the slots at most', async () => {
    own ??= World.start()
    const world = await own
    const [flood, other] = [gated('flood'), gated('other')]
    const runner = await starting(world, flood.one, other.one)
    const ctx = await contextFor(world, null)
    await ctx.transaction((tx) => enqueueEach(tx, flood.one, texts('flood', 30)))
    await expect.poll(() => flood.running, { timeout: waitMs }).toHaveLength(3)
    await ctx.transaction((tx) => enqueueEach(tx, other.one, texts('other', 1)))
    await expect.poll(() => other.running, { timeout: waitMs }).toHaveLength(1)
    expect(flood.running).toHaveLength(3)
    flood.open()
    other.open()
    await expect.poll(() => flood.done, { timeout: waitMs }).toHaveLength(30)
    await runner.stop()
  })
})

test('jobs with the same name run alone, beside others', async () => {
  own ??= World.start()
  const world = await own
  const seen: string[] = []
  const [begun, beside, after] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const one = job({
    name: 'one_alone',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `one_alone:${n}`,
    alone: ({ n }) => `alone:${n}`,
    attempts: 3,
    async run({ n }) {
      seen.push(`one ${n} begins`)
      if (n === 2) return beside.resolve()
      begun.resolve()
      await beside.promise
      seen.push(`one ${n} ends`)
    },
  })
  const other = job({
    ...one,
    name: 'other_alone',
    key: ({ n }) => `other_alone:${n}`,
    async run({ n }) {
      seen.push(`other ${n} begins`)
      after.resolve()
    },
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction((tx) => enqueue(tx, one, { n: 1 }))
  const runner = await startRunner(world, ctx, [one, other], {
    // One that waits, and two for the others: of two, the jobs of one name would have one.
    concurrency: 3,
  })
  await begun.promise
  await ctx.transaction(async (tx) => {
    await enqueue(tx, other, { n: 1 })
    await enqueue(tx, one, { n: 2 })
  })
  await after.promise
  await runner.stop()
  expect(seen).toEqual(['one 1 begins', 'one 2 begins', 'one 1 ends', 'other 1 begins'])
})

test('a job that has to wait keeps the count of its attempts: one that ends the process is not tried for ever', async () => {
  own ??= World.start()
  const world = await own
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const one = job({
    name: 'one_of_limit',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `one_of_limit:${n}`,
    limits: async () => ({ 'one of limit': 1 }),
    attempts: 5,
    async run() {
      begun.resolve()
      await end.promise
    },
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction((tx) => enqueue(tx, one, { n: 1 }))
  const runner = await startRunner(world, ctx, [one], {
    concurrency: 3,
  })
  await begun.promise
  const second = async () => (await jobRows(world)).find(({ key }) => key === 'one_of_limit:2') as any
  // Two of its five attempts are used.
  await ctx.transaction((tx) => enqueue(tx, { ...one, attempts: 3 }, { n: 2 }))
  await expect
    .poll(async () => (await delayOf(world, 'one_of_limit:2')).seconds, { timeout: waitMs })
    .toBeGreaterThan(0)
  expect(await second()).toMatchObject({ attempts: 0, max_attempts: 3 })
  end.resolve()
  await runner.stop()
})

test('attempts of a job that a full disk ends do not count, and those of a slow one become rarer', async () => {
  own ??= World.start()
  const world = await own
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const failing = (name: string, slow: boolean) =>
    job({
      name,
      input: Type.Object({}),
      key: () => name,
      attempts: 2,
      ...(slow && { slow: true, limits: async () => ({ [name]: 1 }) }),
      run: () => Promise.reject(full),
    })
  const jobs = [failing('needs_room', false), failing('needs_much_room', true)]
  const ctx = await contextFor(world, null)
  await ctx.transaction(async (tx) => {
    for (const each of jobs) await enqueue(tx, each, {})
  })
  await lockJob(world, (await jobRows(world)).find(({ key }) => key === 'needs_room')!, 'killed')
  const runner = await startRunner(world, ctx, jobs)
  const left = async () =>
    Object.fromEntries(
      (await jobRows(world))
        .filter(({ key }) => key?.startsWith('needs_'))
        .map(({ key, attempts, max_attempts }) => [key, [attempts, max_attempts]]),
    )
  await expect.poll(left, { timeout: waitMs }).toEqual({ needs_room: [0, 1], needs_much_room: [1, 2] })
  expect(await delayOf(world, 'needs_room')).toEqual({ seconds: 60, isHeld: false })
  await runner.stop()
})

test('the limits of a job depend on the user who caused it, also by another job, or on its name', async () => {
  own ??= World.start()
  const world = await own
  const ended = Promise.withResolvers<void>()
  const shares: (string | undefined)[] = []
  const second = job({
    name: 'caused_second',
    input: Type.Object({ n: Type.Integer() }),
    key: ({ n }) => `caused_second:${n}`,
    limits: async (_, __, share) => {
      shares.push(share)
      return { caused: 5 }
    },
    attempts: 1,
    async run() {
      if (shares.length === 2) ended.resolve()
    },
  })
  const first = job({
    ...second,
    name: 'caused_first',
    key: ({ n }) => `caused_first:${n}`,
    limits: async () => ({ caused: 5 }),
    run: async (input, ctx) => void (await ctx.transaction((tx) => enqueue(tx, second, input))),
  })
  const ctx = await contextFor(world, null)
  await ctx.transaction(async (tx) => {
    await enqueue({ ...tx, share: 'user 7' }, first, { n: 1 })
    await enqueue(tx, second, { n: 2 })
  })
  const runner = await startRunner(world, ctx, [first, second], {
    concurrency: 3,
  })
  await ended.promise
  await runner.stop()
  expect(shares.toSorted()).toEqual(['caller user 7', 'job caused_second'])
})

test('a start removes queues without jobs, unless a job is being added', async () => {
  own ??= World.start()
  const world = await own
  const ctx = await contextFor(world, null)
  const work = job({
    name: 'nobody_runs_it',
    input: Type.Object({ queue: Type.String() }),
    key: ({ queue }) => `nobody_runs_it:${queue}`,
    queue: ({ queue }) => queue,
    attempts: 3,
    run: async () => {},
  })
  const startAndStop = async () => {
    const runner = await startRunner(world, ctx, [])
    await runner.stop()
  }
  const names = async () => (await queueNames(world)).filter((name) => name.startsWith('of '))
  for (const queue of ['of none', 'of one', 'of one being added'])
    await ctx.transaction((tx) => enqueue(tx, work, { queue }))
  for (const queue of ['of none', 'of one being added']) await ctx.transaction((tx) => dequeue(tx, work, { queue }))
  await ctx.transaction(async (tx) => {
    await enqueue(tx, work, { queue: 'of one being added' })
    await startAndStop()
    expect(await names()).toEqual(['of none', 'of one', 'of one being added'])
  })
  await startAndStop()
  expect(await names()).toEqual(['of one', 'of one being added'])
})

test('a start of the runner logs no warning', async ({ world }) => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  const runner = await startRunner(world, await contextFor(world, null), [], { log })
  await runner.stop()
  expect(lines).toEqual([])
})
