import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobKeys } from '../../../../test/jobs.ts'
import { addTodo, systemNotesOf, todosAbout } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import {
  addApproval,
  approvalsOf,
  breakVersions,
  changeMergeRequest,
  versionsOf,
} from '../../../../test/tables/review.ts'
import { test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, mergeStatusOf, pushed } from './testing.ts'
import { closeUnlinked } from './unlinked.ts'

/** A merge request, a developer who pushes, and helpers that record the push. */
async function opened(world: World, attributes: object = {}) {
  const dan = await world.user()
  const made = await openMergeRequest(world, { members: [[dan, 'maintainer']], ...attributes })
  const ctx = await contextFor(world, dan)
  const git = made.project.repository.git.bind(made.project.repository)
  const move = (branch: string, from: Oid | null, to: Oid | null) => pushed(ctx, made.project, branch, from, to)
  const record = async () => (await world.root.get(made.at)).json
  return { ...made, dan, git, move, record, settled: () => afterPush(world, made.project) }
}

/** A commit that is on no branch yet. */
function commit(
  { project }: OpenedMergeRequest,
  parents: readonly Oid[],
  files: Record<string, string>,
  message = 'More',
): Oid {
  const made = project.repository.commit(files, { branch: 'scratch', parents, message })
  project.repository.git('update-ref', '-d', 'refs/heads/scratch')
  return made
}

const systemNotes = async (world: World, id: number) =>
  (await systemNotesOf(world, id, 'author_id', 'body')) as {
    author_id: number
    body: string
  }[]

const versions = (world: World, id: number): Promise<{ head_oid: Oid; commits: number }[]> => versionsOf(world, id)

const waiting = async (world: World, { id }: { id: number }) =>
  (await jobKeys(world, [`update_merge_requests:${id}`])).length

describe('pushes to the source branch', () => {
  test('a push to the source branch creates a version and notifies participants', async ({ world }) => {
    const made = await opened(world)
    const two = commit(made, [made.head], { c: 'c\n' }, 'Two')
    const three = commit(made, [two], { d: 'd\n' }, 'Three')
    await made.move('topic', made.head, three)
    await made.settled()
    await made.settled()
    expect(await mergeStatusOf(world, made.id)).toBe('unchecked')
    expect(await made.record()).toMatchObject({ sha: three, changes_count: '3', state: 'opened' })
    expect(await versions(world, made.id)).toEqual([
      { head_oid: made.head, commits: 1 },
      { head_oid: three, commits: 3 },
    ])
    expect(await systemNotes(world, made.id)).toEqual([
      { author_id: made.dan.id, body: `added 2 commits\n\n* ${two.slice(0, 8)} - Two\n* ${three.slice(0, 8)} - Three` },
    ])
    const events = await eventsOf(
      world,
      { project: made.project.id, kind: 'merge_request_updated' },
      'actor_id',
      'payload',
    )
    expect(events).toMatchObject([
      { actor_id: made.dan.id, payload: { merge_request_id: made.id, old_head_oid: made.head } },
    ])
  })

  test('a forced push to the source branch creates a version and keeps the old commits', async ({ world }) => {
    const made = await opened(world)
    const other = commit(made, [made.base], { b: 'other\n' })
    await made.move('topic', made.head, other)
    await made.settled()
    expect((await versions(world, made.id)).map(({ head_oid }) => head_oid)).toEqual([made.head, other])
    made.git('-c', 'gc.pruneExpire=now', 'gc', '--quiet')
    expect(made.git('cat-file', '-t', made.head)).toBe('commit')
  })

  test('a push to a fork updates the merge request with its commits', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const { at } = await openMergeRequest(world, { project, source: fork, author: ann })
    const head = fork.repository.commit({ c: 'c\n' }, { branch: 'topic' })
    await afterPush(world, fork)
    expect((await world.root.get(at)).json).toMatchObject({ sha: head, changes_count: '2' })
    expect(project.repository.git('rev-parse', 'refs/merge-requests/1/head')).toBe(head)
  })

  test('a push to the source branch revokes approvals and cancels an automatic merge', async ({ world }) => {
    const made = await opened(world)
    await addApproval(world, made.id, made.dan.id)
    await world.root.post(`/projects/${made.project.id}/statuses/${made.head}`, { state: 'running', ref: 'topic' })
    await made.dan.put(`${made.at}/merge`, { merge_when_pipeline_succeeds: true })
    expect(await made.record()).toMatchObject({ merge_when_pipeline_succeeds: true })
    await made.move('topic', made.head, commit(made, [made.head], { c: 'c\n' }))
    await made.settled()
    expect(await made.record()).toMatchObject({ merge_when_pipeline_succeeds: false, state: 'opened' })
    expect(await approvalsOf(world, made.id)).toEqual([])
    expect((await systemNotes(world, made.id)).map(({ body }) => body)).toContain(
      'aborted the automatic merge because source branch was updated',
    )
  })

  test.for(['fixup! Two', 'squash! Two'])(
    'a push with %s marks the merge request as work in progress',
    async (message, { world }) => {
      const made = await opened(world, { title: 'Better' })
      await made.move('topic', made.head, commit(made, [made.head], { c: 'c\n' }, message))
      await made.settled()
      expect(await made.record()).toMatchObject({ title: 'WIP: Better', work_in_progress: true })
      expect((await systemNotes(world, made.id)).at(-1)?.body).toBe('marked as a **Work In Progress**')
    },
  )

  test('a push with fixup! cuts a title that has no room for the mark', async ({ world }) => {
    const made = await opened(world, { title: 'é'.repeat(255) })
    await made.move('topic', made.head, commit(made, [made.head], { c: 'c\n' }, 'fixup! Two'))
    await made.settled()
    expect(await made.record()).toMatchObject({ title: `WIP: ${'é'.repeat(250)}`, work_in_progress: true })
  })

  test('a push marks the todos of the pusher as done', async ({ world }) => {
    const made = await opened(world)
    await addTodo(world, made.dan.id, made.project.id, made.id)
    await made.move('topic', made.head, commit(made, [made.head], { c: 'c\n' }))
    await made.settled()
    expect(await todosAbout(world, made.id, 'state')).toEqual([{ state: 'done' }])
  })

  test('deleting the source branch closes the merge request', async ({ world }) => {
    const made = await opened(world)
    await made.move('topic', made.head, null)
    await made.settled()
    expect(await made.record()).toMatchObject({
      state: 'closed',
      closed_by: { id: made.dan.id },
      closed_at: expect.any(String),
    })
    expect(await systemNotes(world, made.id)).toEqual([{ author_id: made.dan.id, body: 'closed' }])
  })
})

describe('pushes to the target branch', () => {
  test('a push that contains the head marks the merge request as merged with its commit', async ({ world }) => {
    const made = await opened(world)
    const before = commit(made, [made.base], { c: 'c\n' })
    const merge = commit(made, [before, made.head], { c: 'c\n', b: 'b\n' }, 'Merge')
    const after = commit(made, [merge], { d: 'd\n' })
    await made.move('main', made.base, after)
    await made.settled()
    await made.settled()
    expect(await made.record()).toMatchObject({
      state: 'merged',
      merged_by: { id: made.dan.id },
      merge_commit_sha: merge,
      sha: made.head,
    })
    expect(await systemNotes(world, made.id)).toEqual([{ author_id: made.dan.id, body: 'merged' }])
    expect(await versions(world, made.id)).toHaveLength(1)
  })

  test('a fast-forward push marks the merge request as merged without a merge commit', async ({ world }) => {
    const made = await opened(world)
    await made.move('main', made.base, made.head)
    await made.settled()
    expect(await made.record()).toMatchObject({ state: 'merged', merge_commit_sha: null })
  })

  test('a push of a head that was just pushed marks the merge request as merged', async ({ world }) => {
    const made = await opened(world)
    const amended = commit(made, [made.base], { b: 'better\n' })
    await made.move('topic', made.head, amended)
    await made.move('main', made.base, amended)
    await made.settled()
    expect(await made.record()).toMatchObject({ state: 'merged', sha: amended, changes_count: '1' })
  })

  test('resetting the source branch to the target does not merge the merge request', async ({ world }) => {
    const made = await opened(world)
    const main = commit(made, [made.base], { c: 'c\n' })
    await made.move('main', made.base, main)
    await made.settled()
    await made.move('topic', made.head, main)
    await made.settled()
    await made.settled()
    expect(await made.record()).toMatchObject({ state: 'opened', sha: main, merge_status: 'cannot_be_merged' })
  })

  test('another push to the target branch resets the merge status', async ({ world }) => {
    const made = await opened(world)
    const { updated_at } = await made.record()
    await changeMergeRequest(world, made.id, {
      merge_status: 'can_be_merged',
      merge_status_source_oid: made.head,
      merge_status_target_oid: made.base,
    })
    await made.settled()
    expect(await mergeStatusOf(world, made.id)).toBe('can_be_merged')
    await made.move('main', made.base, commit(made, [made.base], { c: 'c\n' }))
    await made.settled()
    expect(await mergeStatusOf(world, made.id)).toBe('unchecked')
    expect(await made.record()).toMatchObject({ state: 'opened', updated_at })
    expect(await versions(world, made.id)).toHaveLength(1)
  })

  test('a push that removes commits of the target creates a version', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: 'a\n' })
    const second = project.repository.commit({ b: 'b\n' })
    const made = await openMergeRequest(world, { project, files: { c: 'c\n' } })
    expect(made.base).toBe(second)
    project.repository.git('update-ref', 'refs/heads/main', first)
    await afterPush(world, project)
    expect((await versions(world, made.id)).map(({ commits }) => commits)).toEqual([1, 2])
  })
})

test('removing the fork relation closes merge requests to the source project', async ({ world }) => {
  const ann = await world.user()
  const project = await storedProject(world)
  project.repository.commit({ a: 'a\n' })
  const fork = await forkOf(world, project, ann)
  const outgoing = await openMergeRequest(world, { project, source: fork, author: ann })
  const inside = await openMergeRequest(world, { project: fork, author: ann, branch: 'other' })
  const close = async () => closeUnlinked.run({ projectId: fork.id, actorId: ann.id }, await contextFor(world, null))
  await close()
  expect((await world.root.get(outgoing.at)).json.state).toBe('opened')
  expect((await ann.delete(`/projects/${fork.id}/fork`)).status).toBe(204)
  const key = `close_unlinked_merge_requests:${fork.id}`
  expect(await jobKeys(world, [key])).toEqual([{ key }])
  await close()
  expect((await world.root.get(outgoing.at)).json).toMatchObject({ state: 'closed', closed_by: { id: ann.id } })
  expect((await world.root.get(inside.at)).json.state).toBe('opened')
})

test('a merge that is in progress when the fork relation is removed delays the closing, and stops no other', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await storedProject(world)
  project.repository.commit({ a: 'a\n' })
  const fork = await forkOf(world, project, ann)
  const [merging, other] = [
    await openMergeRequest(world, { project, source: fork, author: ann }),
    await openMergeRequest(world, { project, source: fork, author: ann, branch: 'other' }),
  ]
  const close = async () => closeUnlinked.run({ projectId: fork.id, actorId: ann.id }, await contextFor(world, null))
  expect((await ann.delete(`/projects/${fork.id}/fork`)).status).toBe(204)
  await changeMergeRequest(world, merging.id, { state: 'locked' })
  await expect(close()).rejects.toThrow('1 step failed')
  expect((await world.root.get(other.at)).json.state).toBe('closed')
  // The merge was abandoned.
  await changeMergeRequest(world, merging.id, { state: 'opened' })
  await close()
  expect((await world.root.get(merging.at)).json.state).toBe('closed')
})

describe('the merge request job after a push', () => {
  test('the job after a push is queued only for branches of open merge requests', async ({ world }) => {
    const made = await opened(world)
    const next = commit(made, [made.base], { c: 'c\n' })
    const clear = () => world.takeJobs('update_merge_requests:%')
    await clear()
    await made.move('unrelated', null, next)
    expect(await waiting(world, made.project)).toBe(0)
    await made.move('main', made.base, next)
    expect(await waiting(world, made.project)).toBe(1)
    await clear()
    await made.move('topic', made.head, null)
    expect(await waiting(world, made.project)).toBe(1)
    await made.settled()
    await clear()
    await made.move('main', next, commit(made, [next], { d: 'd\n' }))
    expect(await waiting(world, made.project)).toBe(0)
  })

  test('the job after a push ignores a missing project', async ({ world }) => {
    await afterPush(world, { id: 2147483647 })
  })

  test('the job after a push continues when one merge request fails', async ({ world }) => {
    const made = await opened(world)
    const other = await openMergeRequest(world, { project: made.project, branch: 'other' })
    made.project.repository.git('update-ref', '-d', 'refs/heads/other')
    await breakVersions(world, made.id)
    await expect(made.settled()).rejects.toThrow('1 step failed')
    expect((await world.root.get(other.at)).json.state).toBe('closed')
  })
})
