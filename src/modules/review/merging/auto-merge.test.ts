import { rm } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { notesOf } from '../../../../test/tables/discussion.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited } from './awaited-job.ts'

const report = (world: World, { project, head, branch }: OpenedMergeRequest, state: string) =>
  world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })

const awaited = { merge_when_pipeline_succeeds: true }

/** Runs the jobs queued for pipelines of its head; returns whether there were any. */
async function jobs(world: World, { project, head }: OpenedMergeRequest): Promise<boolean> {
  const key = `merge_when_pipeline_succeeds:${project.id}:${head}`
  const rows = await world.takeJobs(key)
  if (rows.length > 0) await mergeAwaited.run({ projectId: project.id, sha: head }, await contextFor(world, null))
  return rows.length > 0
}

/** A merge request with a running pipeline that dan set to merge automatically. */
async function waiting(world: World, more: object = {}): Promise<OpenedMergeRequest & { dan: Client }> {
  const dan = await world.user()
  const opened = await openMergeRequest(world, { members: [[dan, 'maintainer']] })
  await report(world, opened, 'running')
  const answer = await dan.put(`${opened.at}/merge`, { ...awaited, ...more })
  expect(answer).toMatchObject({ status: 200, json: { state: 'opened', merge_when_pipeline_succeeds: true } })
  return { ...opened, dan }
}

describe('merge_when_pipeline_succeeds', () => {
  test('an automatic merge runs as requested once the pipeline has succeeded', async ({ world }) => {
    const opened = await waiting(world, { merge_commit_message: 'At last' })
    const before = (await world.root.get(opened.at)).json
    expect(before).toMatchObject({ merged_by: null, merge_user: { id: opened.dan.id } })
    expect(await jobs(world, opened)).toBe(false)
    await report(world, opened, 'success')
    expect(await jobs(world, opened)).toBe(true)
    expect((await world.root.get(opened.at)).json).toMatchObject({
      state: 'merged',
      merged_by: { id: opened.dan.id },
      merge_user: { id: opened.dan.id },
      merge_when_pipeline_succeeds: false,
    })
    expect(opened.project.repository.git('log', '-1', '--format=%s %cn', 'main')).toBe(
      `At last Name of ${opened.dan.username}`,
    )
    const notes = await notesOf(world, opened.id)
    expect(notes.map(({ body }) => body)).toEqual([
      `enabled an automatic merge when the pipeline for ${opened.head.slice(0, 8)} succeeds`,
      'merged',
    ])
  })

  test('an automatic merge shows whether it will squash and remove the source branch, until it is cancelled', async ({
    world,
  }) => {
    const { at } = await waiting(world, { squash: true, should_remove_source_branch: true })
    const shown = async () => {
      const { squash, should_remove_source_branch } = (await world.root.get(at)).json
      return { squash, should_remove_source_branch }
    }
    expect(await shown()).toEqual({ squash: true, should_remove_source_branch: true })
    await world.root.put(`${at}/merge`, { ...awaited, should_remove_source_branch: false })
    expect(await shown()).toEqual({ squash: false, should_remove_source_branch: false })
    expect((await world.root.post(`${at}/cancel_merge_when_pipeline_succeeds`)).status).toBe(201)
    expect(await shown()).toEqual({ squash: false, should_remove_source_branch: null })
  })

  test('a merge request that cannot be read does not keep others with the same commit from being merged', async ({
    world,
  }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, await world.user())
    const broken = await openMergeRequest(world, { project, source: fork })
    const { head, branch } = broken
    const body = { source_branch: branch, target_branch: 'main', title: 'Merge into the fork' }
    const { iid } = (await world.root.post(`/projects/${fork.id}/merge_requests`, body)).json
    const other = `/projects/${fork.id}/merge_requests/${iid}`
    await report(world, { ...broken, project: fork }, 'running')
    for (const at of [broken.at, other]) expect((await world.root.put(`${at}/merge`, awaited)).status).toBe(200)
    await report(world, { ...broken, project: fork }, 'success')
    await rm(project.repository.gitDir, { recursive: true })
    await expect(mergeAwaited.run({ projectId: fork.id, sha: head }, await contextFor(world, null))).rejects.toThrow(
      '1 step failed',
    )
    expect((await world.root.get(other)).json.state).toBe('merged')
  })

  test('an automatic merge waits after a failed pipeline and without permission to merge', async ({ world }) => {
    const opened = await waiting(world)
    await report(world, opened, 'failed')
    expect(await jobs(world, opened)).toBe(false)
    await world.root.put(`/projects/${opened.project.id}/members/${opened.dan.id}`, { access_level: 20 })
    await report(world, opened, 'success')
    await jobs(world, opened)
    expect((await world.root.get(opened.at)).json).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
    })
  })

  test('merge_when_pipeline_succeeds merges at once when the pipeline has succeeded', async ({ world }) => {
    const opened = await openMergeRequest(world)
    await report(world, opened, 'success')
    expect((await world.root.put(`${opened.at}/merge`, awaited)).json).toMatchObject({ state: 'merged' })
  })

  test.for(['failed', 'canceled', undefined])(
    '405 for an automatic merge when the pipeline is %s',
    async (state, { world }) => {
      const opened = await openMergeRequest(world)
      if (state) await report(world, opened, state)
      expect((await world.root.put(`${opened.at}/merge`, awaited)).status).toBe(405)
    },
  )

  test('repeating an automatic merge adds no second note', async ({ world }) => {
    const opened = await waiting(world)
    await opened.dan.put(`${opened.at}/merge`, awaited)
    expect(await notesOf(world, opened.id)).toHaveLength(1)
  })
})

test.for([false, true])(
  'an automatic merge ends with the account of its user, deleted with hard_delete=%s',
  async (hard, { world }) => {
    const opened = await waiting(world)
    expect((await world.root.delete(`/users/${opened.dan.id}?hard_delete=${hard}`)).status).toBe(204)
    expect((await world.root.get(opened.at)).json).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: false,
    })
    expect((await notesOf(world, opened.id)).map(({ body }) => body)).toContain('canceled the automatic merge')
  },
)

describe('POST …/cancel_merge_when_pipeline_succeeds', () => {
  test('cancelling an automatic merge prevents it', async ({ world }) => {
    const opened = await waiting(world)
    const cancel = `${opened.at}/cancel_merge_when_pipeline_succeeds`
    expect(await opened.dan.post(cancel)).toMatchObject({ status: 201, json: { merge_when_pipeline_succeeds: false } })
    expect(await opened.dan.post(cancel)).toMatchObject({
      status: 406,
      json: { message: "Can't cancel the automatic merge" },
    })
    await report(world, opened, 'success')
    expect(await jobs(world, opened)).toBe(false)
    expect((await world.root.get(opened.at)).json.state).toBe('opened')
  })

  test('401 for cancelling an automatic merge unless the caller may merge or is the author', async ({ world }) => {
    const [eve, ann] = [await world.user(), await world.user()]
    const opened = await waiting(world)
    const cancel = `${opened.at}/cancel_merge_when_pipeline_succeeds`
    expect(await eve.post(cancel)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    await changeMergeRequest(world, opened.id, { author_id: ann.id })
    expect((await ann.post(cancel)).status).toBe(201)
    await world.root.put(`${opened.at}/merge`)
    expect((await ann.post(cancel)).status).toBe(401)
  })
})

describe('GET …/pipelines', () => {
  test('pipelines of a merge request are those of its commits on its branch, newest first', async ({ world }) => {
    const opened = await openMergeRequest(world)
    const { project, at } = opened
    await report(world, opened, 'failed')
    await world.root.post(`/projects/${project.id}/statuses/${opened.base}`, { state: 'success', ref: 'main' })
    const head = project.repository.commit({ c: 'c\n' }, { branch: 'topic' })
    await report(world, { ...opened, head }, 'success')
    await world.root.put(`${at}/merge`)
    const listed = await world.root.get(`${at}/pipelines`)
    expect(listed).toMatchObject({
      status: 200,
      json: [
        { sha: head, ref: 'topic', status: 'success', web_url: expect.any(String) },
        { sha: opened.head, ref: 'topic', status: 'failed' },
      ],
    })
    expect(listed.headers['x-total']).toBe('2')
  })

  test('pipelines of a merge request are empty for callers who cannot read pipelines', async ({ world }) => {
    const opened = await openMergeRequest(world)
    await report(world, opened, 'success')
    await world.root.put(`/projects/${opened.project.id}`, { builds_access_level: 'disabled' })
    expect(await world.root.get(`${opened.at}/pipelines`)).toMatchObject({ status: 200, json: [] })
  })
})
