import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { checkMergeability } from './check.ts'

async function checkedStatus(world: World, { id, at }: OpenedMergeRequest): Promise<string> {
  await checkMergeability.run({ mergeRequestId: id }, await contextFor(world, null))
  return (await world.root.get(at)).json.detailed_merge_status
}

const mergeStatus = async (world: World, { at }: OpenedMergeRequest) => (await world.root.put(`${at}/merge`)).status

const report = (world: World, { project, head, branch }: OpenedMergeRequest, state: string) =>
  world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })

describe('detailed_merge_status', () => {
  test('it is unchecked, then checking, then mergeable, and not_open after the merge', async ({ world }) => {
    const opened = await openMergeRequest(world)
    expect(opened.record.detailed_merge_status).toBe('unchecked')
    expect((await world.root.get(opened.at)).json.detailed_merge_status).toBe('checking')
    expect(await checkedStatus(world, opened)).toBe('mergeable')
    expect((await world.root.put(`${opened.at}/merge`)).json).toMatchObject({
      state: 'merged',
      detailed_merge_status: 'not_open',
    })
  })

  test('draft_status, and the merge fails with 405', async ({ world }) => {
    const opened = await openMergeRequest(world, { title: 'Draft: x' })
    expect(await checkedStatus(world, opened)).toBe('draft_status')
    expect(await mergeStatus(world, opened)).toBe(405)
  })

  test('conflict, and the merge fails with 405', async ({ world }) => {
    const opened = await openMergeRequest(world)
    opened.project.repository.commit({ b: 'other\n' })
    expect(await checkedStatus(world, opened)).toBe('conflict')
    expect(await mergeStatus(world, opened)).toBe(405)
  })

  test('commits_status without a target branch, and the merge fails with 405', async ({ world }) => {
    const opened = await openMergeRequest(world, { target_branch: 'nowhere' })
    expect(await checkedStatus(world, opened)).toBe('commits_status')
    expect(await mergeStatus(world, opened)).toBe(405)
  })

  test('need_rebase if the merge method requires it, and the merge fails with 406', async ({ world }) => {
    const opened = await openMergeRequest(world)
    opened.project.repository.commit({ a: 'a\n', c: 'c\n' })
    await world.root.put(`/projects/${opened.project.id}`, { merge_method: 'ff' })
    expect(await checkedStatus(world, opened)).toBe('need_rebase')
    expect(await mergeStatus(world, opened)).toBe(406)
    await world.root.put(`/projects/${opened.project.id}`, { merge_method: 'merge' })
    expect(await checkedStatus(world, opened)).toBe('mergeable')
  })

  test('discussions_not_resolved if they must be, and the merge fails with 405', async ({ world }) => {
    const opened = await openMergeRequest(world)
    await world.root.post(`${opened.at}/discussions`, { body: 'why?' })
    expect(await checkedStatus(world, opened)).toBe('mergeable')
    await world.root.put(`/projects/${opened.project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
    expect(await checkedStatus(world, opened)).toBe('discussions_not_resolved')
    expect(await mergeStatus(world, opened)).toBe(405)
  })

  test('not_approved while approvals are missing, and the merge fails with 405', async ({ world }) => {
    const ann = await world.user()
    const opened = await openMergeRequest(world, { approvals_before_merge: 1, members: [[ann, 'developer']] })
    expect(await checkedStatus(world, opened)).toBe('not_approved')
    expect(await mergeStatus(world, opened)).toBe(405)
    await ann.post(`${opened.at}/approve`)
    expect(await checkedStatus(world, opened)).toBe('mergeable')
  })

  test('ci_must_pass whatever the pipeline says, for readers who may not read it', async ({ world }) => {
    const [ann, guest] = [await world.user(), await world.user()]
    const opened = await openMergeRequest(world, { members: [[ann, 'reporter']] })
    const at = `/projects/${opened.project.id}`
    await world.root.put(at, { only_allow_merge_if_pipeline_succeeds: true, builds_access_level: 'private' })
    await checkedStatus(world, opened)
    const seen = async (who: typeof ann) => [
      (await who.get(opened.at)).json.detailed_merge_status,
      (await who.get(`${at}/merge_requests`)).json[0].detailed_merge_status,
    ]
    for (const [state, expected] of [
      ['running', 'ci_still_running'],
      ['failed', 'ci_must_pass'],
      ['success', 'mergeable'],
    ] as const) {
      await report(world, opened, state)
      expect(await seen(ann)).toEqual([expected, expected])
      expect(await seen(guest)).toEqual(['ci_must_pass', 'ci_must_pass'])
    }
  })

  test('ci_still_running, then ci_must_pass if the pipeline must succeed, and the merge fails with 405', async ({
    world,
  }) => {
    const opened = await openMergeRequest(world)
    await world.root.put(`/projects/${opened.project.id}`, { only_allow_merge_if_pipeline_succeeds: true })
    expect(await checkedStatus(world, opened)).toBe('mergeable')
    for (const [state, expected] of [
      ['running', 'ci_still_running'],
      ['failed', 'ci_must_pass'],
    ] as const) {
      expect((await report(world, opened, state)).status).toBe(201)
      expect(await checkedStatus(world, opened)).toBe(expected)
      expect(await mergeStatus(world, opened)).toBe(405)
    }
    await report(world, opened, 'success')
    expect(await checkedStatus(world, opened)).toBe('mergeable')
    expect(await mergeStatus(world, opened)).toBe(200)
  })
})
