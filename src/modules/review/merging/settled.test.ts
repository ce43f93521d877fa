import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited } from './awaited-job.ts'

/** A merge request with an automatic merge whose pipeline succeeded while a discussion was unresolved. */
async function unsettled(world: World) {
  const opened = await openMergeRequest(world)
  const { project, head, branch, at } = opened
  const report = (state: string) => world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
  await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
  await report('running')
  expect((await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
  const { id, notes } = (await world.root.post(`${at}/discussions`, { body: 'Wait' })).json
  await report('success')
  /** Its state after the jobs queued for its head. */
  const stateAfterJobs = async () => {
    const key = `merge_when_pipeline_succeeds:${project.id}:${head}`
    const queued = await world.takeJobs(key)
    if (queued.length > 0) await mergeAwaited.run({ projectId: project.id, sha: head }, await contextFor(world, null))
    return (await world.root.get(at)).json.state
  }
  expect(await stateAfterJobs()).toBe('opened')
  return { discussion: `${at}/discussions/${id}`, note: `${at}/notes/${notes[0].id}`, stateAfterJobs }
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
