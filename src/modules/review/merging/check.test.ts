import { rename } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobKeys } from '../../../../test/jobs.ts'
import { completeTodos, todosAbout } from '../../../../test/tables/discussion.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { ago } from '../../../../test/tables/statements.ts'
import { test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'
import { checkLater, checkMergeability } from './check.ts'
import { mergeStatusOf } from './testing.ts'

async function checked(world: World, id: number): Promise<void> {
  await checkMergeability.run({ mergeRequestId: id }, await contextFor(world, null))
}

const statusOf = async (world: World, at: string) => (await world.root.get(at)).json.merge_status

describe('merge status of merge requests', () => {
  test.for([
    ['changes to other files', { a: 'a\n', c: 'c\n' }, 'can_be_merged'],
    ['the same change', { b: 'b\n' }, 'can_be_merged'],
    ['another change of the same lines', { b: 'other\n' }, 'cannot_be_merged'],
  ] as const)('the merge status after the check of %s', async ([, files, status], { world }) => {
    const { id, at, project } = await openMergeRequest(world)
    project.repository.commit(files)
    await checked(world, id)
    expect(await statusOf(world, at)).toBe(status)
    expect((await world.root.get(at)).json.has_conflicts).toBe(status === 'cannot_be_merged')
  })

  test('a missing branch or no commits cannot be merged, without a todo for the author', async ({ world }) => {
    const gone = await openMergeRequest(world, { target_branch: 'nowhere' })
    await checked(world, gone.id)
    expect(await statusOf(world, gone.at)).toBe('cannot_be_merged')
    const empty = await openMergeRequest(world)
    empty.project.repository.git('update-ref', 'refs/heads/topic', empty.base)
    await checked(world, empty.id)
    expect(await statusOf(world, empty.at)).toBe('cannot_be_merged')
    expect(await todosAbout(world, [gone.id, empty.id])).toEqual([])
  })

  test('a conflict adds one todo for the author', async ({ world }) => {
    const { id, project } = await openMergeRequest(world, { files: { a: 'theirs\n' } })
    project.repository.commit({ a: 'ours\n' })
    await checked(world, id)
    const todos = () => todosAbout(world, id, 'user_id', 'action', 'state')
    expect(await todos()).toEqual([{ user_id: world.root.id, action: 'unmergeable', state: 'pending' }])
    await completeTodos(world, id)
    project.repository.commit({ a: 'still ours\n' })
    await changeMergeRequest(world, id, { merge_status: 'cannot_be_merged_recheck' })
    await checked(world, id)
    expect(await todos()).toHaveLength(1)
  })

  test('a check that fails leaves the status unchecked, so that the next request checks again', async ({ world }) => {
    const { id, at, project } = await openMergeRequest(world)
    expect(await statusOf(world, at)).toBe('checking')
    project.repository.commit({ a: 'a\n', c: 'c\n' })
    const objects = `${project.repository.repo.gitDir}/objects`
    await rename(objects, `${objects}.away`)
    await expect(checked(world, id)).rejects.toThrow()
    await rename(`${objects}.away`, objects)
    expect(await mergeStatusOf(world, id)).toBe('unchecked')
  })

  test('a merge request stays open and unchecked while its repository is missing', async ({ world }) => {
    const { id, at, project } = await openMergeRequest(world)
    const dir = project.repository.repo.gitDir
    await rename(dir, `${dir}.away`)
    await expect(checked(world, id)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await mergeStatusOf(world, id)).toBe('unchecked')
    expect((await world.root.put(`${at}/merge`)).status).toBe(503)
    await rename(`${dir}.away`, dir)
    await checked(world, id)
    expect((await world.root.get(at)).json).toMatchObject({ state: 'opened', merge_status: 'can_be_merged' })
  })

  test('a merge request is no longer checking once its check finds that a push merged it', async ({ world }) => {
    const { id, at, project, head } = await openMergeRequest(world)
    expect(await statusOf(world, at)).toBe('checking')
    project.repository.git('update-ref', 'refs/heads/main', head)
    await checked(world, id)
    expect((await world.root.get(at)).json).toMatchObject({ state: 'merged', merge_status: 'can_be_merged' })
  })

  test('a merge request that is closed while its check waits is no longer checking', async ({ world }) => {
    const { id, at } = await openMergeRequest(world)
    expect(await statusOf(world, at)).toBe('checking')
    expect((await world.root.put(at, { state_event: 'close' })).json.merge_status).toBe('unchecked')
    await checked(world, id)
    expect(await statusOf(world, at)).toBe('unchecked')
  })

  test('a check without a result, as of a locked merge request, is forgotten', async ({ world }) => {
    const { id, at } = await openMergeRequest(world)
    expect(await statusOf(world, at)).toBe('checking')
    await changeMergeRequest(world, id, { state: 'locked' })
    await checked(world, id)
    expect(await mergeStatusOf(world, id)).toBe('unchecked')
  })

  test('a check that was lost is queued again after a while', async ({ world }) => {
    const { id, at } = await openMergeRequest(world)
    expect(await statusOf(world, at)).toBe('checking')
    const key = `check_mergeability:${id}`
    expect(await world.takeJobs(key)).toHaveLength(1)
    await world.root.get(at)
    expect(await world.takeJobs(key)).toHaveLength(0)
    await changeMergeRequest(world, id, { checking_since: ago('1 hour') })
    await world.root.get(at)
    expect(await world.takeJobs(key)).toHaveLength(1)
  })

  test('only unknown merge statuses are checked', async ({ world }) => {
    const opened = [await openMergeRequest(world), await openMergeRequest(world), await openMergeRequest(world)]
    const [known, unknown, closed] = opened.map(({ id }) => id) as [number, number, number]
    await checked(world, known)
    await changeMergeRequest(world, closed, { state: 'closed' })
    const ctx = await contextFor(world, world.root)
    await ctx.transaction((tx) => checkLater(tx, [known, unknown, closed]))
    const keys = [known, unknown, closed].map((id) => `check_mergeability:${id}`)
    expect(await jobKeys(world, keys)).toEqual([{ key: keys[1] }])
    expect(await statusOf(world, opened[1]!.at)).toBe('checking')
    await checked(world, unknown)
    expect(await statusOf(world, opened[1]!.at)).toBe('can_be_merged')
  })

  test('D3-MR-MERGE-STATUS: a list starts a check, whose result the next list shows', async ({ world }) => {
    const { id, project } = await openMergeRequest(world)
    const listed = async () => (await world.root.get(`/projects/${project.id}/merge_requests`)).json
    await listed()
    const key = `check_mergeability:${id}`
    expect(await jobKeys(world, [key])).toEqual([{ key }])
    expect(await listed()).toMatchObject([{ merge_status: 'checking' }])
    await checked(world, id)
    expect(await listed()).toMatchObject([{ merge_status: 'can_be_merged' }])
  })

  test('a read waits for no writer: the next one starts the check', async ({ world }) => {
    const { id, at, project } = await openMergeRequest(world)
    const [list, record] = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'merge_requests', id)
      return Promise.all([world.root.get(`/projects/${project.id}/merge_requests`), world.root.get(at)])
    })
    expect(list.json).toMatchObject([{ merge_status: 'unchecked' }])
    expect(record.json).toMatchObject({ merge_status: 'unchecked' })
    expect(await statusOf(world, at)).toBe('checking')
  })

  test('the merge status of a closed merge request is not checked', async ({ world }) => {
    const { id, at } = await openMergeRequest(world)
    await changeMergeRequest(world, id, { state: 'closed' })
    await checked(world, id)
    expect(await statusOf(world, at)).toBe('unchecked')
    await checked(world, 2147483647)
  })
})
