import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

describe('failed pipelines', () => {
  test('the author gets a build_failed todo when the pipeline of the head fails, once', async ({ world }) => {
    const author = await world.user()
    const { project, id, head, base, branch } = await openMergeRequest(world, {
      author,
      members: [[author, 'developer']],
    })
    const report = (sha: string, ref: string, state: string, name: string) =>
      world.root.post(`/projects/${project.id}/statuses/${sha}`, { state, ref, name })
    await report(head, branch, 'running', 'test')
    await report(base, 'main', 'failed', 'test')
    expect((await author.get('/todos')).json).toEqual([])
    await report(head, branch, 'failed', 'test')
    expect((await author.get('/todos')).json).toMatchObject([{ action_name: 'build_failed', target: { id } }])
    await report(head, branch, 'running', 'again')
    await report(head, branch, 'failed', 'again')
    expect((await author.get('/todos')).json).toHaveLength(1)
  })

  test('a closed merge request gets no build_failed todo', async ({ world }) => {
    const author = await world.user()
    const { project, at, head, branch } = await openMergeRequest(world, { author, members: [[author, 'developer']] })
    await author.put(at, { state_event: 'close' })
    await world.root.post(`/projects/${project.id}/statuses/${head}`, { state: 'failed', ref: branch })
    expect((await author.get('/todos')).json).toEqual([])
  })
})
