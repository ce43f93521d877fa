import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { answerDuring } from '../../../../test/during.ts'
import { systemNotesOf, todosAbout } from '../../../../test/tables/discussion.ts'
import { eventsOf, feedOf } from '../../../../test/tables/events.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { latestVersion } from '../../../../test/tables/review.ts'
import { type Answer, type Client, test, unique, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { contextWithin } from '../../../api/within-transaction.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { editCurrent, saveCurrent } from '../merging/edit-current.ts'
import { afterPush, pushed } from '../merging/testing.ts'
import { loadMergeRequest } from './subject.ts'
import { forkOf, openMergeRequest, refsDropped } from './testing.ts'

/** A merge request by Dan, a developer of its project, and one from another user's fork. */
async function opened(world: World) {
  const [dan, eve, stranger] = [await world.user(), await world.user(), await world.user()]
  const members: [Client, Level][] = [
    [dan, 'developer'],
    [eve, 'developer'],
  ]
  const made = await openMergeRequest(world, { members, author: dan })
  const fork = await forkOf(world, made.project, stranger)
  const theirs = await openMergeRequest(world, { project: made.project, source: fork, author: stranger, branch: 'fix' })
  return { ...made, dan, eve, stranger, fork, theirs }
}

const notes = async (world: World, id: number): Promise<string[]> =>
  (await systemNotesOf(world, id)).map(({ body }) => body)

const events = async (world: World, id: number): Promise<any[]> =>
  (await eventsOf(world, { payload: { merge_request_id: id } }, 'kind', 'payload')).map(({ kind, payload }) => ({
    kind,
    changes: payload.changes ?? null,
  }))

describe('PUT /projects/:id/merge_requests/:merge_request_iid', () => {
  test('PUT changes the given attributes of a merge request and records the old values', async ({ world }) => {
    const { dan, eve, at, id, project } = await opened(world)
    project.repository.git('branch', 'release', 'main')
    const changed = await dan.put(at, {
      title: 'Better',
      description: `For @${eve.username}`,
      target_branch: 'release',
      assignee_ids: [eve.id, dan.id],
      labels: 'a,b',
      discussion_locked: true,
      squash: true,
      remove_source_branch: false,
    })
    expect(changed).toMatchObject({
      status: 200,
      json: {
        title: 'Better',
        description: `For @${eve.username}`,
        target_branch: 'release',
        labels: ['a', 'b'],
        discussion_locked: true,
        squash: true,
        force_remove_source_branch: false,
      },
    })
    expect(changed.json.assignees.map((user: any) => user.id).sort()).toEqual([dan.id, eve.id].sort())
    expect((await dan.get(at)).json).toMatchObject({ title: 'Better', target_branch: 'release' })
    expect(await notes(world, id)).toEqual([
      'changed title from **Merge topic** to **Better**',
      'changed the description',
      'changed target branch from `main` to `release`',
      expect.stringMatching(/^assigned to @\S+, @\S+$/),
      'locked this merge request',
    ])
    const [, { kind, changes }] = await events(world, id)
    expect(kind).toBe('merge_request_updated')
    expect(changes).toMatchObject({ title: ['Merge topic', 'Better'], squash: [false, true], labels: [[], [{}, {}]] })
    expect(changes).not.toHaveProperty('state')
    const todos = await todosAbout(world, id)
    expect(todos).toEqual([{ user_id: eve.id }])
    const more = await dan.put(at, { add_labels: 'c', remove_labels: 'a', assignee_id: 0 })
    expect(more.json).toMatchObject({ labels: ['b', 'c'], assignees: [], assignee: null })
    expect((await dan.put(at, { labels: '', milestone_id: 0, description: null })).json).toMatchObject({
      labels: [],
      description: null,
    })
    expect((await dan.put(at, { title: 'WIP: Better' })).json.work_in_progress).toBe(true)
    expect((await notes(world, id)).at(-1)).toBe('marked as a **Work In Progress**')
    await dan.put(at, { title: 'Best' })
    expect((await notes(world, id)).slice(-2)).toEqual([
      'unmarked as a **Work In Progress**',
      'changed title from **WIP: Better** to **Best**',
    ])
  })

  test('PUT without a difference writes nothing', async ({ world }) => {
    const { dan, at, id, record } = await opened(world)
    const same = await dan.put(at, {
      title: record.title,
      target_branch: 'main',
      assignee_ids: [],
      labels: [],
      squash: false,
      state_event: 'reopen',
    })
    expect(same).toMatchObject({ status: 200, json: { updated_at: record.updated_at } })
    expect(await notes(world, id)).toEqual([])
    expect(await events(world, id)).toHaveLength(1)
  })

  test('a merge request is closed and reopened', async ({ world }) => {
    const { dan, at, id } = await opened(world)
    const closed = (await dan.put(at, { state_event: 'close' })).json
    expect(closed).toMatchObject({ state: 'closed', closed_by: { id: dan.id }, closed_at: expect.any(String) })
    expect((await dan.put(at, { state_event: 'close' })).json).toEqual(closed)
    expect((await dan.put(at, { state_event: 'reopen' })).json).toMatchObject({
      state: 'opened',
      closed_by: null,
      closed_at: null,
      merge_status: 'unchecked',
    })
    expect(await notes(world, id)).toEqual(['closed', 'reopened'])
    expect((await events(world, id)).map(({ kind }) => kind)).toEqual([
      'merge_request_opened',
      'merge_request_closed',
      'merge_request_reopened',
    ])
    const feed = await feedOf(world, id, 'action', 'target_iid')
    expect(feed.map(({ action }) => action)).toEqual(['created', 'closed', 'reopened'])
  })

  test('a merge request without its branch is not reopened if it is closed while the request waits', async ({
    world,
  }) => {
    const { dan, at, project } = await opened(world)
    project.repository.git('update-ref', '-d', 'refs/heads/topic')
    const { namespace } = (await world.root.get(`/projects/${project.id}`)).json
    const refused = await answerDuring(
      world,
      () => dan.put(at, { state_event: 'reopen', add_labels: 'bug' }),
      () => world.root.put(at, { state_event: 'close' }),
      (tx) => lockRow(tx, 'namespaces', namespace.id),
    )
    expect(refused).toMatchObject({ status: 422, json: { error: ['The source branch does not exist'] } })
    expect((await dan.get(at)).json).toMatchObject({ state: 'closed', labels: [] })
  })

  test.for([
    ['its target branch is set to what it was', 'opened', { target_branch: 'main' }],
    ['it is reopened', 'closed', { state_event: 'reopen' }],
  ] as const)('409 if %s while its target branch changes', async ([, state, edit], { world }) => {
    const { dan, at, project } = await opened(world)
    project.repository.git('branch', 'release', 'main')
    if (state === 'closed') await dan.put(at, { state_event: 'close' })
    const { namespace } = (await world.root.get(`/projects/${project.id}`)).json
    const refused = await answerDuring(
      world,
      () => dan.put(at, { ...edit, add_labels: 'bug' }),
      () => world.root.put(at, { target_branch: 'release' }),
      (tx) => lockRow(tx, 'namespaces', namespace.id),
    )
    expect(refused).toMatchObject({ status: 409, json: { message: 'The target branch was changed meanwhile' } })
    expect((await dan.get(at)).json).toMatchObject({ state, target_branch: 'release', labels: [] })
  })

  test('a merge request cannot be reopened beside a duplicate or without its branch', async ({ world }) => {
    const { dan, at, project } = await opened(world)
    const post = () =>
      dan.post(`/projects/${project.id}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title: 'x' })
    await dan.put(at, { state_event: 'close' })
    const other = await post()
    expect(await dan.put(at, { state_event: 'reopen' })).toMatchObject({
      status: 409,
      json: { message: [`Another open merge request already exists for this source branch: !${other.json.iid}`] },
    })
    await dan.put(`/projects/${project.id}/merge_requests/${other.json.iid}`, { state_event: 'close' })
    project.repository.git('update-ref', '-d', 'refs/heads/topic')
    expect(await dan.put(at, { state_event: 'reopen' })).toMatchObject({
      status: 422,
      json: { error: ['The source branch does not exist'] },
    })
    // Its last head is still known.
    expect((await dan.put(at, { target_branch: 'elsewhere' })).json.sha).toBe(
      project.repository.git('rev-parse', 'refs/merge-requests/1/head'),
    )
  })

  test('a new target branch creates a version, and cannot be the source branch', async ({ world }) => {
    const { dan, at, project, base, head } = await opened(world)
    const other = project.repository.commit({ c: 'c\n' }, { branch: 'other', parents: [base] })
    expect((await dan.put(at, { target_branch: 'other' })).json).toMatchObject({
      merge_status: 'unchecked',
      diff_refs: { base_sha: base, start_sha: other, head_sha: head },
    })
    expect((await dan.get(`${at}/versions`)).json).toHaveLength(2)
    expect(await dan.put(at, { target_branch: 'topic' })).toMatchObject({ status: 422 })
    expect(await dan.put(at, { target_branch: 'a..b' })).toMatchObject({
      status: 400,
      json: { message: { target_branch: ['is invalid'] } },
    })
    expect(await dan.put(at, { title: '' })).toMatchObject({ status: 400, json: { error: 'title is empty' } })
    expect(await dan.put(at, {})).toMatchObject({ status: 400 })
  })

  test('null clears the lock of the discussion of a merge request, as it clears other attributes', async ({
    world,
  }) => {
    const { dan, at } = await opened(world)
    expect((await dan.put(at, { discussion_locked: true })).json.discussion_locked).toBe(true)
    expect(await dan.put(at, { discussion_locked: null })).toMatchObject({
      status: 200,
      json: { discussion_locked: null },
    })
  })

  test('the author edits a merge request, except assignees and other triage attributes', async ({ world }) => {
    const { stranger, theirs, eve, dan, at } = await opened(world)
    const changed = await stranger.put(theirs.at, {
      title: 'Mine',
      labels: 'x',
      assignee_ids: [eve.id],
      milestone_id: 1,
      discussion_locked: true,
      allow_collaboration: true,
    })
    expect(changed).toMatchObject({
      status: 200,
      json: { title: 'Mine', labels: [], assignees: [], discussion_locked: null, allow_collaboration: true },
    })
    expect(await stranger.put(at, { title: 'Mine' })).toMatchObject({ status: 403 })
    expect(await dan.put(theirs.at, { assignee_ids: [stranger.id] })).toMatchObject({
      status: 200,
      json: { assignee: { id: stranger.id } },
    })
  })

  test('users who cannot read a merge request are not assigned to it', async ({ world }) => {
    const [dan, guest] = [await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [dan, 'developer'],
      [guest, 'guest'],
    ]
    const { at } = await openMergeRequest(world, { visibility: 'private', members, author: dan })
    expect((await dan.put(at, { assignee_ids: [guest.id, 999_999, dan.id] })).json.assignees).toEqual([
      expect.objectContaining({ id: dan.id }),
    ])
  })

  test('an edit that names only users who cannot be assigned keeps assignees and reviewers', async ({ world }) => {
    const [dan, guest] = [await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [dan, 'developer'],
      [guest, 'guest'],
    ]
    const { at } = await openMergeRequest(world, { visibility: 'private', members, author: dan })
    await dan.put(at, { assignee_ids: [dan.id], reviewer_ids: [dan.id] })
    const people = { assignees: [{ id: dan.id }], reviewers: [{ id: dan.id }] }
    for (const edit of [{ assignee_ids: [0, guest.id], reviewer_ids: [999_999] }, { assignee_id: guest.id }])
      expect(await dan.put(at, edit), JSON.stringify(edit)).toMatchObject({ status: 200, json: people })
    expect((await dan.put(at, { assignee_ids: [], reviewer_ids: [0] })).json).toMatchObject({
      assignees: [],
      reviewers: [],
    })
  })

  test('0 unassigns all users and reviewers, and one ID needs no list', async ({ world }) => {
    const { dan, eve, at } = await opened(world)
    for (const [name, field] of [
      ['assignee_ids', 'assignees'],
      ['reviewer_ids', 'reviewers'],
    ] as const) {
      const named = async (ids: unknown) =>
        (await dan.put(at, { [name]: ids })).json[field]?.map(({ id }: { id: number }) => id)
      expect(await named([eve.id]), name).toEqual([eve.id])
      expect(await named(0), name).toEqual([])
      expect(await named(String(eve.id)), name).toEqual([eve.id])
      expect(await named('0'), name).toEqual([])
    }
  })

  test('concurrent edits of a merge request are all applied', async ({ world }) => {
    const { dan, at } = await opened(world)
    await Promise.all([
      dan.put(at, { title: 'New' }),
      dan.put(at, { squash: true }),
      dan.put(at, { add_labels: 'a' }),
      dan.put(at, { add_labels: 'b' }),
      dan.put(at, { description: 'Text' }),
    ])
    expect((await dan.get(at)).json).toMatchObject({
      title: 'New',
      squash: true,
      description: 'Text',
      labels: ['a', 'b'],
    })
  })
})

describe('DELETE /projects/:id/merge_requests/:merge_request_iid', () => {
  test('owners delete a merge request; its branches remain', async ({ world }) => {
    const made = await opened(world)
    const { dan, at, project, id } = made
    expect(await dan.delete(at)).toMatchObject({ status: 403 })
    const old = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
    expect(await world.root.delete(at, { headers: old })).toMatchObject({ status: 412 })
    expect(await world.root.delete(at)).toMatchObject({ status: 204 })
    expect(await world.root.delete(at)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    await refsDropped(world, made)
    expect(project.repository.git('for-each-ref', 'refs/merge-requests/1')).toBe('')
    expect(project.repository.git('rev-parse', '--verify', 'topic')).not.toBe('')
    expect((await events(world, id)).at(-1).kind).toBe('merge_request_deleted')
    // Its iid is not reused.
    const next = await openMergeRequest(world, { project, branch: 'next' })
    expect(next.iid).toBe(3)
  })
})

describe('merge requests of deleted forks', () => {
  test('a merge request outlives its source project', async ({ world }) => {
    const { theirs, fork, stranger } = await opened(world)
    await deleteProject(world, { id: fork.id })
    expect((await stranger.get(theirs.at)).json).toMatchObject({ source_project_id: null, sha: theirs.head })
    expect((await stranger.get(`${theirs.at}/changes`)).json.changes).toHaveLength(1)
    expect(await stranger.put(theirs.at, { title: 'Still' })).toMatchObject({ status: 200 })
  })
})

test('404 for merge requests of a project without any', async ({ world }) => {
  const project = await storedProject(world)
  expect(await world.root.get(`/projects/${project.id}/merge_requests/1`)).toMatchObject({
    status: 404,
    json: { message: '404 Not found' },
  })
})

test('assignees that concurrent pushes add and remove are all respected', async ({ world }) => {
  const people = await Promise.all([1, 2, 3, 4].map(() => world.user()))
  const [first, ...others] = people.map(({ id }) => id)
  const { at, iid, project } = await openMergeRequest(world, { assignee_ids: [first] })
  const ctx = await contextFor(world, world.root)
  const subject = (await loadMergeRequest({ id: String(project.id), merge_request_iid: iid }, ctx))!
  await Promise.all([
    ...others.map((id) => editCurrent(ctx, subject, { add_assignee_ids: [id] })),
    editCurrent(ctx, subject, { remove_assignee_ids: [first!] }),
  ])
  const { assignees } = (await world.root.get(at)).json
  expect(assignees.map(({ id }: { id: number }) => id).sort()).toEqual(others.sort())
})

describe('pushes during an edit', () => {
  /** A merge request with a branch `release` at the head of `main`, and commits to its source branch through the API. */
  async function pushable(world: World) {
    const made = await opened(world)
    made.project.repository.git('branch', 'release', made.base)
    const { namespace } = (await world.root.get(`/projects/${made.project.id}`)).json
    const push = async () => {
      const answer = await world.root.post(`/projects/${made.project.id}/repository/commits`, {
        branch: 'topic',
        commit_message: 'C',
        actions: [{ action: 'create', file_path: unique('file'), content: 'c' }],
      })
      expect(answer.status, answer.text).toBe(201)
      return answer
    }
    /** Edits it, and does something else while the edit has read the branches and waits. */
    const edited = (edit: object, meanwhile: () => Promise<Answer>) =>
      answerDuring(
        world,
        () => made.dan.put(made.at, { ...edit, add_labels: 'bug' }),
        meanwhile,
        (tx) => lockRow(tx, 'namespaces', namespace.id),
      )
    return { ...made, push, edited }
  }

  test('a merge request gets the commits that are pushed while it is reopened', async ({ world }) => {
    const { dan, at, id, push, edited } = await pushable(world)
    await dan.put(at, { state_event: 'close' })
    let pushed: string | undefined
    const reopened = await edited({ state_event: 'reopen' }, async () => {
      const answer = await push()
      pushed = answer.json.id
      return answer
    })
    expect(reopened).toMatchObject({ status: 200, json: { state: 'opened' } })
    await world.runJobs()
    await expect.poll(() => latestVersion(world, id)).toEqual([{ head_oid: pushed }])
  })

  test('a merge request is merged if its head is pushed to its new target branch while it gets it', async ({
    world,
  }) => {
    const { dan, id, project, base, head, edited } = await pushable(world)
    const ctx = await contextFor(world, dan)
    const answer = await edited({ target_branch: 'release' }, async () => {
      await pushed(ctx, project, 'release', base, head)
      // Not of the merge request, whose branches would be checked.
      return world.root.get(`/projects/${project.id}`)
    })
    expect(answer.status, answer.text).toBe(200)
    await world.runJobs()
    const merged = { kind: 'merge_request_merged', payload: { merge_request_id: id } }
    await expect.poll(() => eventsOf(world, merged)).toHaveLength(1)
  })

  test('an edit keeps the head that is pushed and followed meanwhile, and its approvals', async ({ world }) => {
    const { at, id, eve, project, push, edited } = await pushable(world)
    let head: string | undefined
    const answer = await edited({ target_branch: 'release' }, async () => {
      head = (await push()).json.id
      await afterPush(world, project)
      return eve.post(`${at}/approve`)
    })
    expect(answer).toMatchObject({ status: 200, json: { target_branch: 'release', labels: ['bug'], sha: head } })
    expect(await latestVersion(world, id)).toEqual([{ head_oid: head }])
    expect((await eve.get(`${at}/approvals`)).json.approved_by).toHaveLength(1)
  })

  test('409 for an edit of the target branch if pushes are followed meanwhile again and again', async ({ world }) => {
    const { dan, at, project, iid, push } = await pushable(world)
    const ctx = await contextFor(world, dan)
    const subject = (await loadMergeRequest({ id: String(project.id), merge_request_iid: iid }, ctx))!
    let saves = 0
    const edit = saveCurrent(ctx, subject, { target_branch: 'release' }, async (save) => {
      saves++
      await push()
      await afterPush(world, project)
      return save(ctx)
    })
    await expect(edit).rejects.toMatchObject({ kind: 'conflict', message: 'The source branch was changed meanwhile' })
    expect(saves).toBe(2)
    expect((await dan.get(at)).json.target_branch).toBe('main')
  })

  test('a push to the old target branch that is followed while the target branch changes merges nothing', async ({
    world,
  }) => {
    const { dan, at, project, iid, head } = await pushable(world)
    const ctx = await contextFor(world, dan)
    const subject = (await loadMergeRequest({ id: String(project.id), merge_request_iid: iid }, ctx))!
    const { following } = await ctx.transaction(async (tx) => {
      await editCurrent(contextWithin(ctx, tx).ctx, subject, { target_branch: 'release' })
      project.repository.git('update-ref', 'refs/heads/main', head)
      const following = afterPush(world, project)
      await world.waitsForLock()
      // In an object, because the transaction must end before it can.
      return { following }
    })
    await following
    expect((await dan.get(at)).json).toMatchObject({ state: 'opened', target_branch: 'release' })
  })
})
