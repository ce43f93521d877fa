import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited } from './awaited-job.ts'

/** A merge request with an automatic merge whose pipeline succeeded while something kept it from being merged. */
async function waiting(world: World, hold: (opened: OpenedMergeRequest) => Promise<unknown>) {
  const opened = await openMergeRequest(world)
  const { project, head, branch, at } = opened
  const report = (state: string) => world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
  await report('running')
  expect((await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
  await hold(opened)
  await report('success')
  /** Its state after the jobs queued for its head. */
  const stateAfterJobs = async () => {
    const key = `merge_when_pipeline_succeeds:${project.id}:${head}`
    const queued = await world.takeJobs(key)
    if (queued.length > 0) await mergeAwaited.run({ projectId: project.id, sha: head }, await contextFor(world, null))
    return (await world.root.get(at)).json.state
  }
  expect(await stateAfterJobs()).toBe('opened')
  return { ...opened, stateAfterJobs }
}

/** The same, held by an unresolved discussion. */
async function unsettled(world: World) {
  let begun: { id: string; notes: { id: number }[] } | undefined
  const { at, stateAfterJobs } = await waiting(world, async ({ project, at }) => {
    await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
    begun = (await world.root.post(`${at}/discussions`, { body: 'Wait' })).json
  })
  return { discussion: `${at}/discussions/${begun!.id}`, note: `${at}/notes/${begun!.notes[0]!.id}`, stateAfterJobs }
}

test('an automatic merge runs when the last discussion is resolved', async ({ world }) => {
  const { discussion, stateAfterJobs } = await unsettled(world)
  await world.root.post(`${discussion}/notes`, { body: 'Still' })
  expect(await stateAfterJobs()).toBe('opened')
  await world.root.put(discussion, { resolved: true })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the last unresolved note is deleted', async ({ world }) => {
  const { note, stateAfterJobs } = await unsettled(world)
  await world.root.delete(note)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when the merge request is ready', async ({ world }) => {
  const { at, stateAfterJobs } = await waiting(world, ({ at }) => world.root.put(at, { draft: true }))
  await world.root.put(at, { draft: false })
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when it is approved, whatever is unresolved, unless the project requires that', async ({
  world,
}) => {
  const dan = await world.user()
  const { at, stateAfterJobs } = await waiting(world, async ({ project, at }) => {
    await world.root.post(`/projects/${project.id}/members`, { user_id: dan.id, access_level: 30 })
    await world.root.post(`${at}/approvals`, { approvals_required: 1 })
    await world.root.post(`${at}/discussions`, { body: 'By the way' })
  })
  expect((await dan.post(`${at}/approve`)).status).toBe(201)
  expect(await stateAfterJobs()).toBe('merged')
})

test('an automatic merge runs when it needs no more approvals', async ({ world }) => {
  const { at, stateAfterJobs } = await waiting(world, ({ at }) =>
    world.root.post(`${at}/approvals`, { approvals_required: 1 }),
  )
  await world.root.post(`${at}/approvals`, { approvals_required: 0 })
  expect(await stateAfterJobs()).toBe('merged')
})
