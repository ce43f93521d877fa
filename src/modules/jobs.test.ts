import { expect, test } from 'vitest'
import type { Ctx } from '../api/ctx.ts'
import { Limits } from '../jobs/limits.ts'
import { jobsAtOnce } from '../jobs/queue-state.ts'
import { jobs } from './jobs.ts'

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

test.for(['rebase_source', 'delete_merged_branches', 'housekeep_repository', 'housekeep_after_pushes'])(
  '%s takes half of the slots at most, however often one user requests it, because it may take minutes',
  async (name) => {
    const job = jobs.find((each) => each.name === name)!
    const limits = new Limits()
    const ofJob = async (n: number) =>
      limits.enter(`${name} ${n}`, (await job.limits!({ mergeRequestId: n, projectId: n, actorId: 1 }, {} as Ctx))!)
    const tries = await Promise.all(Array.from({ length: 100 }, (_, n) => ofJob(n)))
    expect(tries.filter((each) => 'leave' in each).length).toBeLessThanOrEqual(jobsAtOnce / 2)
  },
)
