import { describe, expect } from 'vitest'
import { addThread, resolveThread, systemNotesOf, todosAbout } from '../../../../test/tables/discussion.ts'
import { eventsOf, feedOf } from '../../../../test/tables/events.ts'
import { addLargeFile, allowMerging, largeFilesOf } from '../../../../test/tables/pushes.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'

const set = (world: World, { id }: StoredProject, settings: object) => world.root.put(`/projects/${id}`, settings)

/** A merge request of two commits, the first with a message body, with new commits on `main`. */
async function diverged(
  world: World,
  attributes: object = {},
): Promise<OpenedMergeRequest & { main: string; tip: string }> {
  const project = await storedProject(world)
  const base = project.repository.commit({ a: 'a\n' })
  project.repository.commit(
    { b: 'b\n' },
    { branch: 'topic', parents: [base], message: 'One\n\nWhy.\n', author: 'Bob <bob@x.y>' },
  )
  const opened = await openMergeRequest(world, { project, branch: 'other', ...attributes })
  const tip = project.repository.commit({ c: 'c\n' }, { branch: 'topic', message: 'Two\n' })
  const made = await world.root.post(`/projects/${project.id}/merge_requests`, {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'Better',
    ...attributes,
  })
  const main = project.repository.commit({ d: 'd\n' })
  const { id, iid } = made.json
  return {
    ...opened,
    id,
    iid,
    at: `/projects/${project.id}/merge_requests/${iid}`,
    head: tip,
    branch: 'topic',
    record: made.json,
    main,
    tip,
  }
}

describe('PUT …/merge_requests/:merge_request_iid/merge', () => {
  test('a merge creates a merge commit by the caller', async ({ world }) => {
    const dan = await world.user()
    const { project, at, head, base, record, iid } = await openMergeRequest(world, { members: [[dan, 'maintainer']] })
    const main = project.repository.commit({ c: 'c\n' })
    const merged = await dan.put(`${at}/merge`)
    expect(merged).toMatchObject({
      status: 200,
      json: {
        state: 'merged',
        merged_by: { id: dan.id },
        merged_at: expect.any(String),
        merge_commit_sha: project.repository.git('rev-parse', 'main'),
        squash_commit_sha: null,
        merge_error: null,
        sha: head,
      },
    })
    const git = project.repository.git.bind(project.repository)
    expect(git('log', '-1', '--format=%P', 'main')).toBe(`${main} ${head}`)
    expect(git('log', '-1', '--format=%B', 'main')).toBe(
      `Merge branch 'topic' into 'main'\n\n${record.title}\n\nSee merge request ${project.full_path}!${iid}`,
    )
    expect(git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a', 'b', 'c'])
    expect(git('log', '-1', '--format=%an %ae|%cn', 'main')).toBe(
      `Name of ${dan.username} ${dan.username}@example.com|Name of ${dan.username}`,
    )
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
    expect(base).not.toBe(main)
  })

  test('a merge emits one event, one activity and one system note', async ({ world }) => {
    const { project, at, id, iid, record } = await openMergeRequest(world)
    await world.root.put(`${at}/merge`)
    const events = await eventsOf(world, { project: project.id, kind: 'merge_request_merged' }, 'payload')
    expect(events).toMatchObject([{ payload: { merge_request_id: id, iid } }])
    const feed = (await feedOf(world, id, 'action', 'target_iid', 'target_title')).filter(
      ({ action }) => action === 'merged',
    )
    expect(feed).toEqual([{ action: 'merged', target_iid: iid, target_title: record.title }])
    expect(await systemNotesOf(world, id)).toEqual([{ body: 'merged' }])
  })

  test('D3-MR-STATES: 405 for merging a merged merge request', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
    expect(await world.root.put(`${at}/merge`)).toMatchObject({
      status: 405,
      json: { message: '405 Method Not Allowed' },
    })
    expect((await world.root.get(at)).json.state).toBe('merged')
  })

  test('merge_commit_message sets the message of a merge', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    await world.root.put(`${at}/merge`, { merge_commit_message: 'All of it' })
    expect(project.repository.git('log', '-1', '--format=%B', 'main')).toBe('All of it')
  })

  test('a squash is one commit by the author with the first message that has a body', async ({ world }) => {
    const dan = await world.user()
    const { at, project, main } = await diverged(world)
    await world.root.post(`/projects/${project.id}/members`, { user_id: dan.id, access_level: 40 })
    const { json } = await dan.put(`${at}/merge`, { squash: true })
    const git = project.repository.git.bind(project.repository)
    expect(json).toMatchObject({ state: 'merged', squash: true, squash_commit_sha: git('rev-parse', 'main^2') })
    expect(git('log', '-1', '--format=%P|%B|%an|%cn', 'main^2')).toBe(
      `${main}|One\n\nWhy.|Administrator|Name of ${dan.username}`,
    )
    expect(git('rev-parse', 'main^{tree}')).toBe(git('rev-parse', 'main^2^{tree}'))
    expect(git('ls-tree', '--name-only', 'main').split('\n')).toEqual(['a', 'b', 'c', 'd'])
  })

  test.for([
    ['never', { squash: true }, { squash: true }, false],
    ['always', { squash: false }, { squash: false }, true],
    ['default_on', {}, {}, true],
    ['default_on', { squash: false }, {}, false],
    ['default_on', {}, { squash: false }, false],
    ['default_off', {}, {}, false],
    ['default_off', {}, { squash: true }, true],
  ] as const)(
    'with squash_option %s, a merge request created with %j and merged with %j is squashed: %s',
    async ([squash_option, attributes, sent, squash], { world }) => {
      const project = await storedProject(world)
      const base = project.repository.commit({ a: 'a\n' })
      project.repository.commit({ b: 'b\n' }, { branch: 'topic', parents: [base] })
      const head = project.repository.commit({ c: 'c\n' }, { branch: 'topic' })
      await set(world, project, { squash_option })
      const list = `/projects/${project.id}/merge_requests`
      const opening = { source_branch: 'topic', target_branch: 'main', title: 'Better', ...attributes }
      const { iid } = (await world.root.post(list, opening)).json
      const { json } = await world.root.put(`${list}/${iid}/merge`, sent)
      expect(json).toMatchObject({ state: 'merged', squash })
      const merged = project.repository.git('rev-parse', 'main^2')
      expect([json.squash_commit_sha, merged === head]).toEqual(squash ? [merged, false] : [null, true])
    },
  )

  test('a single commit is squashed only with another message', async ({ world }) => {
    const plain = await openMergeRequest(world, { squash: true })
    const { json } = await world.root.put(`${plain.at}/merge`)
    expect(json).toMatchObject({ state: 'merged', squash: true, squash_commit_sha: null })
    expect(plain.project.repository.git('rev-parse', 'main^2')).toBe(plain.head)
    const withMessage = await openMergeRequest(world, { squash: true })
    const other = await world.root.put(`${withMessage.at}/merge`, { squash_commit_message: 'Otherwise' })
    expect(withMessage.project.repository.git('log', '-1', '--format=%B', other.json.squash_commit_sha)).toBe(
      'Otherwise',
    )
  })

  test('the squash message is the title when no commit has a body', async ({ world }) => {
    const project = await storedProject(world)
    const base = project.repository.commit({ a: 'a\n' })
    project.repository.commit({ x: 'x\n' }, { branch: 'topic', parents: [base], message: 'Begin' })
    const tip = project.repository.commit({ y: 'y\n' }, { branch: 'topic', message: 'End' })
    const opened = await openMergeRequest(world, { project, branch: 'unused' })
    const { json } = await world.root.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'Both',
      squash: true,
    })
    expect(opened.head).not.toBe(tip)
    const merged = await world.root.put(`/projects/${project.id}/merge_requests/${json.iid}/merge`)
    expect(project.repository.git('log', '-1', '--format=%s', merged.json.squash_commit_sha)).toBe('Both')
  })

  test.for(['ff', 'rebase_merge'] as const)(
    '406 for a merge by %s when the source branch lacks commits of the target',
    async (merge_method, { world }) => {
      const { at, project, tip } = await diverged(world)
      await set(world, project, { merge_method })
      expect(await world.root.put(`${at}/merge`)).toMatchObject({
        status: 406,
        json: { message: 'Branch cannot be merged' },
      })
      expect((await world.root.get(at)).json).toMatchObject({ state: 'opened', merge_error: null })
      const head = project.repository.commit(
        { e: 'e\n' },
        { branch: 'topic', parents: [project.repository.git('rev-parse', 'main') as never, tip as never] },
      )
      const { json } = await world.root.put(`${at}/merge`)
      const main = project.repository.git('rev-parse', 'main')
      expect(json).toMatchObject({ state: 'merged', merge_commit_sha: merge_method === 'ff' ? null : main, sha: head })
      expect(merge_method === 'ff' ? main : project.repository.git('rev-parse', 'main^2')).toBe(head)
    },
  )

  test('a fast-forward of a squash is one commit', async ({ world }) => {
    const { at, project, base } = await openMergeRequest(world)
    await set(world, project, { merge_method: 'ff' })
    const { json } = await world.root.put(`${at}/merge`, { squash: true, squash_commit_message: 'One' })
    expect(json).toMatchObject({
      merge_commit_sha: null,
      squash_commit_sha: project.repository.git('rev-parse', 'main'),
    })
    expect(project.repository.git('log', '-1', '--format=%P %s', 'main')).toBe(`${base} One`)
  })

  test('a merge from a fork copies its commits', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const { at } = await openMergeRequest(world, { project, source: fork, author: ann })
    const head = fork.repository.commit({ c: 'c\n' }, { branch: 'topic' })
    expect(await ann.put(`${at}/merge`)).toMatchObject({ status: 401 })
    expect((await world.root.put(`${at}/merge`)).json).toMatchObject({ state: 'merged', sha: head })
    expect(project.repository.git('rev-parse', 'main^2')).toBe(head)
  })
})

describe('LFS files of forks', () => {
  async function withLargeFile(world: World) {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const [mine, other] = ['1'.repeat(64), '2'.repeat(64)]
    for (const oid of [mine, other]) await addLargeFile(world, fork.id, oid, 7)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${mine}\nsize 7\n`
    const { at } = await openMergeRequest(world, {
      project,
      source: fork,
      author: ann,
      files: { 'large.bin': pointer },
    })
    return { project, at, mine }
  }

  test('LFS files are copied with the commits that point to them', async ({ world }) => {
    const { project, at, mine } = await withLargeFile(world)
    await world.root.put(`${at}/merge`)
    expect(await largeFilesOf(world, project.id)).toEqual([{ oid: mine }])
  })

  test('LFS files are not copied by a merge that a push rule refuses', async ({ world }) => {
    const { project, at } = await withLargeFile(world)
    await world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^no merge' })
    await world.root.put(`${at}/merge`)
    expect((await world.root.get(at)).json).toMatchObject({
      state: 'opened',
      merge_error: expect.stringContaining('pre-receive'),
    })
    expect(await largeFilesOf(world, project.id)).toEqual([])
  })
})

describe('merges that are refused', () => {
  test('406 for a merge with a conflict, then 405 since it is known', async ({ world }) => {
    const { at, project, id } = await openMergeRequest(world, { files: { a: 'theirs\n' } })
    project.repository.commit({ a: 'ours\n' })
    expect(await world.root.put(`${at}/merge`)).toMatchObject({
      status: 406,
      json: { message: 'Branch cannot be merged' },
    })
    expect((await world.root.get(at)).json).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    expect(await todosAbout(world, id, 'action')).toEqual([{ action: 'unmergeable' }])
    // The target changes, so the status is checked again.
    project.repository.commit({ a: 'theirs\n' })
    expect((await world.root.put(`${at}/merge`)).json).toMatchObject({ state: 'merged' })
  })

  test('409 for a merge when the sha is not the head', async ({ world }) => {
    const { at, head, project } = await openMergeRequest(world)
    const now = project.repository.commit({ c: 'c\n' }, { branch: 'topic' })
    expect(await world.root.put(`${at}/merge`, { sha: head })).toMatchObject({
      status: 409,
      json: { message: `SHA does not match HEAD of source branch: ${now}` },
    })
    expect((await world.root.put(`${at}/merge`, { sha: now })).json).toMatchObject({ state: 'merged', sha: now })
  })

  test('405 for a merge of work in progress', async ({ world }) => {
    const { at, id } = await openMergeRequest(world, { title: 'wip: later' })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    await changeMergeRequest(world, id, { title: 'Now' })
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
  })

  test('405 for a merge without commits', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    project.repository.git('update-ref', 'refs/heads/topic', 'main')
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    expect((await world.root.get(at)).json.state).toBe('opened')
  })

  test('405 for a merge when a branch is missing', async ({ world }) => {
    const { at, project } = await openMergeRequest(world, { target_branch: 'nowhere' })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    expect(project.repository.git('for-each-ref', 'refs/heads/nowhere')).toBe('')
  })

  test('405 for a merge with unresolved discussions when they must be resolved', async ({ world }) => {
    const { at, project, id } = await openMergeRequest(world)
    await set(world, project, { only_allow_merge_if_all_discussions_are_resolved: true })
    const discussion = 'a'.repeat(40)
    await addThread(world, project.id, id, discussion)
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    await resolveThread(world, discussion)
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
  })

  test.for([
    ['failed', 405],
    ['running', 405],
    ['success', 200],
  ] as const)('merge with a required pipeline that is %s: %i', async ([state, status], { world }) => {
    const { at, project, head, branch } = await openMergeRequest(world)
    await set(world, project, { only_allow_merge_if_pipeline_succeeds: true })
    await world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
    expect((await world.root.put(`${at}/merge`)).status).toBe(status)
  })

  test('users with merge access merge without push access; 401 for others', async ({ world }) => {
    const [dan, stranger] = [await world.user(), await world.user()]
    const opened = () => openMergeRequest(world, { members: [[dan, 'developer']] })
    const protect = ({ project }: OpenedMergeRequest, merge_access_level: number) =>
      world.root.post(`/projects/${project.id}/protected_branches`, {
        name: 'main',
        push_access_level: 40,
        merge_access_level,
      })
    const [open, closed] = [await opened(), await opened()]
    await protect(open, 30)
    await protect(closed, 40)
    expect(await stranger.put(`${open.at}/merge`)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    expect((await dan.put(`${closed.at}/merge`)).status).toBe(401)
    expect((await dan.put(`${open.at}/merge`)).json).toMatchObject({ state: 'merged', merged_by: { id: dan.id } })
  })

  test('a merge refused by push rules stays open with an error, and its event names the user who merges', async ({
    world,
  }) => {
    const dan = await world.user()
    const { at, project, base } = await openMergeRequest(world, { members: [[dan, 'reporter']] })
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main', merge_access_level: 0 })
    await allowMerging(world, project.id, dan.id)
    expect(await dan.put(`${at}/merge`)).toMatchObject({
      status: 200,
      json: {
        state: 'opened',
        merge_error:
          'Something went wrong during merge pre-receive hook. You are not allowed to push code to this project.',
      },
    })
    expect(project.repository.git('rev-parse', 'main')).toBe(base)
    const failed = { project: project.id, kind: 'merge_request_merge_failed' }
    expect(await eventsOf(world, failed, 'actor_id')).toEqual([{ actor_id: dan.id }])
  })
})
