import { expect, test } from 'vitest'
import type { Ctx } from '../api/ctx.ts'
import { type JobLimits, jobsAtOnce, Limits, longJobLimits, slowJobsAtOnce } from '../jobs/limits.ts'
import { jobs } from './jobs.ts'
import { remoteLimits } from './lifecycle/index.ts'
import { archiveLimits } from './portability/archive/limits.ts'
import { packingLimits } from './pushes/pushes/jobs.ts'

/** An input of which each number and text differs. */
const inputOf = (fields: Readonly<Record<string, { type?: string }>>, n: number) =>
  Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type === 'string' ? `text ${n}` : n]))

test.for(jobs.filter((job) => job.queue !== undefined).map((job) => [job.name, job] as const))(
  '%s has few queues, as the runner locks all of them when it looks for a job',
  ([, job]) => {
    const names = Array.from({ length: 1000 }, (_, n) => job.queue!(inputOf(job.input.properties, n)))
    expect(new Set(names).size).toBeLessThan(5)
  },
)

test('jobs that run alone have a key, with which they are tried again', () => {
  const alone = jobs.filter((job) => job.alone !== undefined)
  expect(alone.length).toBeGreaterThan(0)
  expect(alone.filter((job) => job.key === undefined)).toEqual([])
})

test.for([
  ['tell_of_note', 'mail_note'],
  ['tell_of_todos', 'mail_todos'],
] as const)('a job that the previous release queued as %s runs as %s', ([before, now]) => {
  const named = (wanted: string) => jobs.filter(({ name }) => name === wanted)
  expect(named(before).map(({ run }) => run)).toEqual(named(now).map(({ run }) => run))
  expect(named(before)).toHaveLength(1)
})

/** Limits of slow jobs whose holders all differ, by kind; one kind may have several jobs. */
const limitsOfSlow: Readonly<Record<string, (n: number) => JobLimits | Promise<JobLimits>>> = {
  remotes: (n) =>
    remoteLimits((['import', 'export', 'mirror'] as const)[n % 3]!, { url: `http://h${n}.test`, userId: n }),
  exports: (n) => archiveLimits('export', { userId: n, url: undefined }),
  imports: (n) => archiveLimits('import', { userId: n, url: undefined }),
  'long jobs': longJobLimits,
  packing: (n) => packingLimits({}, {} as Ctx, `user ${n}`),
}

/** Number of jobs that the limits admit at once. */
async function admitted(limitsOf: (n: number) => JobLimits | Promise<JobLimits>): Promise<number> {
  const limits = new Limits()
  const tries: object[] = []
  for (let n = 0; n < 100; n++) tries.push(limits.enter(`${n}`, await limitsOf(n)))
  return tries.filter((each) => 'leave' in each).length
}

test('slow jobs have as many slots as their limits and queues admit together, so that no kind waits for another', async () => {
  const slow = jobs.filter((job) => job.slow)
  const queues = slow.flatMap(({ queue, input }) =>
    queue ? Array.from({ length: 100 }, (_, n) => queue(inputOf(input.properties, n))) : [],
  )
  const ofLimits = await Promise.all(Object.values(limitsOfSlow).map(admitted))
  expect(slowJobsAtOnce).toBe(new Set(queues).size + ofLimits.reduce((sum, each) => sum + each))
})

test('two users never have all slots for remotes, nor all for one kind of work, nor all for long jobs or packing', async () => {
  const ofTwo = async (limitsOf: (userId: number, n: number) => JobLimits | Promise<JobLimits>) => {
    const limits = new Limits()
    // The first takes all that they get before the second comes.
    for (let n = 0; n < 100; n++) limits.enter(`${n}`, await limitsOf(n < 50 ? 0 : 1, n))
    return 'leave' in limits.enter('third', await limitsOf(2, 100))
  }
  const remote = (kind: 'import' | 'mirror') => (userId: number, n: number) =>
    remoteLimits(kind, { url: `http://h${n}.test`, userId })
  const packing = (userId: number) => packingLimits({}, {} as Ctx, `caller ${userId}`)
  expect(await Promise.all([remote('import'), remote('mirror'), longJobLimits, packing].map(ofTwo))).toEqual(
    Array(4).fill(true),
  )
})

test('one user never has all slots for packing, and has two while no one else needs them', async () => {
  const limits = new Limits()
  const enter = async (n: number, share: string) =>
    limits.enter(`${n}`, await packingLimits({}, {} as Ctx, `caller ${share}`))
  const entered: boolean[] = []
  for (const [n, share] of ['ann', 'ann', 'ann', 'bob', 'bob'].entries())
    entered.push('leave' in (await enter(n, share)))
  expect(entered).toEqual([true, true, false, true, false])
})

test('jobs that contact other servers, or whose number at once is limited, are slow', () => {
  const limited = jobs.filter(({ outgoing, limits }) => outgoing || limits)
  expect(limited.filter(({ slow }) => !slow)).toEqual([])
  const unlimited = jobs.filter(({ slow, limits, queue }) => slow && !limits && !queue)
  expect(unlimited).toEqual([])
})

test.for([
  'rebase_source',
  'delete_merged_branches',
  'housekeep_repository',
  'housekeep_after_pushes',
  'housekeep_side_repository',
])('%s takes few slots, however often one user requests it, because it may take minutes', async (name) => {
  const job = jobs.find((each) => each.name === name)!
  const limits = new Limits()
  const ofJob = async (n: number) =>
    limits.enter(
      `${name} ${n}`,
      (await job.limits!({ mergeRequestId: n, projectId: n, actorId: 1 }, {} as Ctx, 'caller ann'))!,
    )
  const tries = await Promise.all(Array.from({ length: 100 }, (_, n) => ofJob(n)))
  expect(tries.filter((each) => 'leave' in each).length).toBeLessThanOrEqual(jobsAtOnce / 2)
})
