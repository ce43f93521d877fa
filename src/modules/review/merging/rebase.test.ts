import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { failJobs } from '../../../../test/jobs.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { type Client, test, World } from '../../../../test/world.ts'
import { jobsAtOnce } from '../../../jobs/limits.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { lockMergeRequest } from '../merge-requests/queries.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'
import { endFailedRebases, rebaseSource } from './rebase.ts'

const rebased = async (world: World, id: number, who: Client): Promise<void> =>
  rebaseSource.run({ mergeRequestId: id, actorId: who.id }, await contextFor(world, null))

const failed = 'Rebase failed. Please rebase locally'

describe('PUT …/merge_requests/:merge_request_iid/rebase', () => {
  test('a rebase puts the source branch on top of the target in a job', async ({ world }) => {
    const dan = await world.user()
    const { at, id, project, head } = await openMergeRequest(world, { members: [[dan, 'developer']] })
    const main = project.repository.commit({ c: 'c\n' })
    expect(await dan.put(`${at}/rebase`)).toMatchObject({ status: 202, json: { rebase_in_progress: true } })
    const asked = `${at}?include_rebase_in_progress=true`
    expect((await world.root.get(asked)).json).toMatchObject({ rebase_in_progress: true, sha: head })
    expect((await dan.put(`${at}/rebase`)).status).toBe(409)
    await rebased(world, id, dan)
    const now = project.repository.git('rev-parse', 'topic')
    expect(project.repository.git('log', '-1', '--format=%P %an %cn', 'topic')).toBe(
      `${main} Ann Name of ${dan.username}`,
    )
    expect((await world.root.get(asked)).json).toMatchObject({ rebase_in_progress: false, sha: now, merge_error: null })
    await world.root.put(`/projects/${project.id}`, { merge_method: 'ff' })
    expect((await world.root.put(`${at}/merge`, { sha: now })).json).toMatchObject({ state: 'merged' })
    expect(project.repository.git('rev-parse', 'main')).toBe(now)
  })

  test('the rebase of a merge request goes on when that of another ends', async ({ world }) => {
    const [one, other] = [await openMergeRequest(world, {}), await openMergeRequest(world, {})]
    const isRunning = async ({ at }: { readonly at: string }) =>
      (await world.root.get(`${at}?include_rebase_in_progress=true`)).json.rebase_in_progress
    expect((await world.root.put(`${one.at}/rebase`)).status).toBe(202)
    expect([await isRunning(one), await isRunning(other)]).toEqual([true, false])
    expect((await world.root.put(`${other.at}/rebase`)).status).toBe(202)
    await rebased(world, one.id, world.root)
    expect([await isRunning(one), await isRunning(other)]).toEqual([false, true])
  })

  test('a rebase that was interrupted at every attempt is tried again when it is requested again', async ({
    world,
  }) => {
    const { at, id } = await openMergeRequest(world, {})
    const other = await openMergeRequest(world, {})
    for (const each of [at, other.at]) expect((await world.root.put(`${each}/rebase`)).status).toBe(202)
    const keys = [`rebase_source:${id}`, `rebase_source:${other.id}`]
    await failJobs(world, keys)
    expect((await world.root.put(`${at}/rebase`)).status).toBe(409)
    expect(await world.jobs(keys[0]!)).toMatchObject([{ attempts: 0 }])
    expect((await world.jobs(keys[1]!))[0]!.attempts).toBeGreaterThan(0)
  })

  test('a rebase that was interrupted at every attempt ends with an error', async ({ world }) => {
    const [{ at, id }, other] = [await openMergeRequest(world, {}), await openMergeRequest(world, {})]
    for (const each of [at, other.at]) expect((await world.root.put(`${each}/rebase`)).status).toBe(202)
    await failJobs(world, [`rebase_source:${id}`])
    await endFailedRebases.run({}, await contextFor(world, null))
    const shown = async (which: string) => (await world.root.get(`${which}?include_rebase_in_progress=true`)).json
    expect(await shown(at)).toMatchObject({ rebase_in_progress: false, merge_error: failed })
    expect(await shown(other.at)).toMatchObject({ rebase_in_progress: true, merge_error: null })
    expect((await world.root.put(`${at}/rebase`)).status).toBe(202)
    await rebased(world, id, world.root)
    expect(await shown(at)).toMatchObject({ rebase_in_progress: false, merge_error: null })
  })

  test('a rebase with a conflict reports an error and moves nothing', async ({ world }) => {
    const { at, id, project, head } = await openMergeRequest(world, { files: { a: 'theirs\n' } })
    project.repository.commit({ a: 'ours\n' })
    await world.root.put(`${at}/rebase`)
    await rebased(world, id, world.root)
    expect((await world.root.get(`${at}?include_rebase_in_progress=true`)).json).toMatchObject({
      rebase_in_progress: false,
      merge_error: failed,
      sha: head,
    })
    expect(project.repository.git('rev-parse', 'topic')).toBe(head)
  })

  test.for([
    ['merged', 'merge', {}],
    ['closed', '', { state_event: 'close' }],
  ] as const)(
    'a rebase leaves the branch alone once the merge request is %s',
    async ([state, path, edit], { world }) => {
      const { at, id, project, head } = await openMergeRequest(world)
      project.repository.commit({ c: 'c\n' })
      expect((await world.root.put(`${at}/rebase`)).status).toBe(202)
      expect((await world.root.put(path ? `${at}/${path}` : at, edit)).json.state).toBe(state)
      await rebased(world, id, world.root)
      expect(project.repository.git('rev-parse', 'topic')).toBe(head)
      expect((await world.root.get(`${at}?include_rebase_in_progress=true`)).json).toMatchObject({
        rebase_in_progress: false,
        merge_error: null,
      })
    },
  )

  test('a rebase of a fork copies the commits of the target, for users who can push there', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const { at, id } = await openMergeRequest(world, { project, source: fork, author: ann })
    const main = project.repository.commit({ c: 'c\n' })
    expect((await ann.put(`${at}/rebase`)).status).toBe(202)
    await rebased(world, id, ann)
    expect(fork.repository.git('log', '-1', '--format=%P', 'topic')).toBe(main)
    expect((await world.root.get(at)).json).toMatchObject({ sha: fork.repository.git('rev-parse', 'topic') })
  })

  test('a repeated rebase, or one that is up to date, changes nothing', async ({ world }) => {
    const { at, id, project, head } = await openMergeRequest(world)
    await world.root.put(`${at}/rebase`)
    for (let n = 0; n < 2; n++) await rebased(world, id, world.root)
    expect(project.repository.git('rev-parse', 'topic')).toBe(head)
  })

  test('403 for a rebase without push access or source branch', async ({ world }) => {
    const [dan, eve] = [await world.user(), await world.user()]
    const { at, project, id } = await openMergeRequest(world, { members: [[dan, 'developer']] })
    const refused = (reason: string) => ({ status: 403, json: { message: `403 Forbidden - ${reason}` } })
    expect(await eve.put(`${at}/rebase`)).toMatchObject(refused('Cannot push to source branch'))
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'topic', push_access_level: 40 })
    expect(await dan.put(`${at}/rebase`)).toMatchObject(refused('Cannot push to source branch'))
    // A user who lost the permission meanwhile does not rebase.
    project.repository.commit({ c: 'c\n' })
    await changeMergeRequest(world, id, { rebasing: true })
    await rebased(world, id, dan)
    expect((await world.root.get(at)).json.merge_error).toBe(failed)
    project.repository.git('update-ref', '-d', 'refs/heads/topic')
    expect(await world.root.put(`${at}/rebase`)).toMatchObject(refused('Source branch does not exist'))
  })

  test('405 for a rebase of a merged merge request', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    await world.root.put(`${at}/merge`)
    expect((await world.root.put(`${at}/rebase`)).status).toBe(405)
  })
})

test('rebases of one user that take long leave slots of the job runner for jobs of others', async () => {
  await using world = await World.start()
  const [ann, bob] = [await world.user(), await world.user()]
  const repository = async (owner: Client) =>
    openMergeRequest(world, { members: [[owner, 'maintainer']], author: owner, branch: 'topic-0' })
  const [first, bobs] = [await repository(ann), await repository(bob)]
  const others = await Promise.all(
    Array.from({ length: jobsAtOnce }, (_, n) =>
      openMergeRequest(world, { project: first.project, author: ann, branch: `topic-${n + 1}` }),
    ),
  )
  for (const { project } of [first, bobs]) project.repository.commit({ c: 'c\n' })
  for (const { at } of [first, ...others]) expect((await ann.put(`${at}/rebase`)).status).toBe(202)
  await world.takeJobs('check_mergeability:%')
  const isOver = async () =>
    (await world.root.get(`${bobs.at}?include_rebase_in_progress=true`)).json.rebase_in_progress === false
  await world.db.transaction(async (tx) => {
    for (const { id } of [first, ...others]) await lockMergeRequest(tx, id)
    await world.runJobs()
    await world.waitsForLock(2)
    expect((await bob.put(`${bobs.at}/rebase`)).status).toBe(202)
    await expect.poll(isOver, { timeout: waitMs }).toBe(true)
    // The job of the other user ends a moment after the rebase.
    const running = async () => (await world.jobs('rebase_source:%')).filter(({ is_running }) => is_running)
    await expect.poll(running, { timeout: waitMs }).toHaveLength(2)
  })
})
