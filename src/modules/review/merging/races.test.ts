import { describe, expect } from 'vitest'
import { contextFor, locate } from '../../../../test/contexts.ts'
import { jobKeys } from '../../../../test/jobs.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeMergeRequest, latestVersion } from '../../../../test/tables/review.ts'
import { type Answer, type Client, test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import { openRepository } from '../../projects/repositories/open.ts'
import { recordIntent } from '../../pushes/pushes/journal.ts'
import { inTurn } from '../../pushes/pushes/writers.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited } from './awaited-job.ts'
import { makeMerge } from './make-merge.ts'
import { mergeHead } from './merge-head.ts'
import { beginMerging, findMerging, type Merging, noteMergeCommit } from './queries.ts'
import { settleCutOffMerges } from './settle.ts'
import { afterPush, mergeStatusOf, pushed } from './testing.ts'

describe('concurrent merges', () => {
  test('sixteen concurrent merges into one branch all succeed, each once', async ({ world }) => {
    const project = await storedProject(world)
    const opened = []
    for (let n = 0; n < 16; n++)
      opened.push(await openMergeRequest(world, { project, branch: `topic-${n}`, files: { [`file-${n}`]: `${n}\n` } }))
    const answers = await Promise.all(opened.map(({ at }) => world.root.put(`${at}/merge`)))
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200))
    const git = project.repository.git.bind(project.repository)
    const line = git('log', '--first-parent', '--format=%H', 'main').split('\n')
    expect(line).toHaveLength(17)
    expect(line.slice(0, -1).toSorted()).toEqual(answers.map(({ json }) => json.merge_commit_sha).toSorted())
    expect(git('ls-tree', '--name-only', 'main').split('\n')).toHaveLength(17)
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
    await afterPush(world, project)
    expect(await eventsOf(world, { project: project.id, kind: 'merge_request_merged' })).toHaveLength(16)
  })

  test('one of several concurrent merges of a merge request succeeds, 405 for the others', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.root.put(`${at}/merge`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(405)])
    expect(project.repository.git('log', '--first-parent', '--format=%H', 'main').split('\n')).toHaveLength(2)
  })

  test('a merge with sha during a push to the source branch succeeds before it, and is 409 after it', async ({
    world,
  }) => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const { at, project, head, branch } = await openMergeRequest(world)
        const ctx = await contextFor(world, world.root)
        const next = project.repository.commit({ n: 'n\n' }, { branch: 'scratch', parents: [head] })
        const push = pushed(ctx, project, branch, head, next)
        const [answer] = await Promise.all([world.root.put(`${at}/merge`, { sha: head }), push])
        return answer.status
      }),
    )
    expect(answers.filter((status) => status !== 200 && status !== 409)).toEqual([])
  })

  test('a merge during a change of the title succeeds, unless the new title is that of a draft', async ({ world }) => {
    const opened = []
    for (let n = 0; n < 12; n++) opened.push(await openMergeRequest(world))
    const outcomes = await Promise.all(
      opened.map(async ({ at }, n) => {
        const title = n % 3 === 0 ? `Draft: ${n}` : `Title ${n}`
        const [retitled, merged] = await Promise.all([world.root.put(at, { title }), world.root.put(`${at}/merge`)])
        expect(retitled.status, retitled.text).toBe(200)
        const { state } = (await world.root.get(at)).json
        return { isDraft: n % 3 === 0, status: merged.status, state }
      }),
    )
    for (const { isDraft, status, state } of outcomes) {
      if (!isDraft) expect(status).toBe(200)
      expect([200, 405]).toContain(status)
      expect(state).toBe(status === 200 ? 'merged' : 'opened')
    }
  })

  test('405 for a merge whose target branch changes meanwhile to one with the same head', async ({ world }) => {
    const { at, id, project, base, head } = await openMergeRequest(world)
    project.repository.git('branch', 'release', base)
    const ctx = await contextFor(world, world.root)
    const read = (await findMerging(ctx.db, id))!
    expect((await world.root.put(at, { target_branch: 'release' })).status).toBe(200)
    await expect(mergeHead(ctx, read, head, {})).rejects.toMatchObject({ kind: 'wrong_state' })
    expect(project.repository.git('rev-parse', 'main')).toBe(base)
    expect(await world.root.put(`${at}/merge`)).toMatchObject({ status: 200, json: { target_branch: 'release' } })
  })

  test('of conflicting concurrent merges the first succeeds, 406 for the others', async ({ world }) => {
    const project = await storedProject(world)
    const opened = []
    for (let n = 0; n < 4; n++)
      opened.push(await openMergeRequest(world, { project, branch: `topic-${n}`, files: { same: `${n}\n` } }))
    const answers = await Promise.all(opened.map(({ at }) => world.root.put(`${at}/merge`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 406, 406, 406])
    const states = await Promise.all(opened.map(async ({ at }) => (await world.root.get(at)).json.state))
    expect(states.toSorted()).toEqual(['merged', 'opened', 'opened', 'opened'])
  })

  test('concurrent pushes to the target branch during merges are not lost', async ({ world }) => {
    const project = await storedProject(world)
    const opened = []
    for (let n = 0; n < 6; n++)
      opened.push(await openMergeRequest(world, { project, branch: `topic-${n}`, files: { [`file-${n}`]: `${n}\n` } }))
    const pushes = Array.from({ length: 6 }, (_, n) =>
      world.root.post(`/projects/${project.id}/repository/files/pushed-${n}`, {
        branch: 'main',
        content: 'x',
        commit_message: 'x',
      }),
    )
    const answers = await Promise.all([...opened.map(({ at }) => world.root.put(`${at}/merge`)), ...pushes])
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), ...Array(6).fill(201)])
    expect(project.repository.git('ls-tree', '--name-only', 'main').split('\n')).toHaveLength(13)
  })
})

/** A merge request that can be merged, with one approval, which it needs, and a resolved discussion. */
async function ready(world: World) {
  const [ann, dan] = [await world.user(), await world.user()]
  const members: [Client, 'developer' | 'maintainer'][] = [
    [ann, 'developer'],
    [dan, 'maintainer'],
  ]
  const made = await openMergeRequest(world, { members, approvals_before_merge: 1 })
  const project = `/projects/${made.project.id}`
  const report = (state: string) => world.root.post(`${project}/statuses/${made.head}`, { state, ref: made.branch })
  const discuss = () => world.root.post(`${made.at}/discussions`, { body: 'Why?' })
  const discussion = `${made.at}/discussions/${(await discuss()).json.id}`
  await world.root.put(discussion, { resolved: true })
  await ann.post(`${made.at}/approve`)
  await world.root.put(project, { only_allow_merge_if_all_discussions_are_resolved: true })
  const changes = {
    'its approval is withdrawn': () => ann.post(`${made.at}/unapprove`),
    'a discussion is opened that must be resolved': discuss,
    'a resolved discussion is opened again': () => world.root.put(discussion, { resolved: false }),
    'the project requires more approvals': () => world.root.put(project, { approvals_before_merge: 2 }),
    'the project requires a pipeline that succeeds, and it has failed': async () => {
      await world.root.put(project, { only_allow_merge_if_pipeline_succeeds: true })
      return report('failed')
    },
  }
  return { ...made, dan, report, changes }
}

/** The outcome of a merge during whose wait for another merge into the branch, when its checks are done, something happens. */
async function mergedDuring<T>(
  world: World,
  { id, project }: OpenedMergeRequest,
  merges: () => Promise<T>,
  meanwhile: () => Promise<Answer>,
): Promise<T> {
  const repo = openRepository(await contextFor(world, world.root), await locate(world, project.id))
  const { merging } = await inTurn(repo, 'refs/heads/main' as RefName, async () => {
    const merging = merges()
    await expect.poll(() => mergeStatusOf(world, id)).toBe('can_be_merged')
    expect((await meanwhile()).status).toBeLessThan(300)
    // In an object, because the turn must end before the merge can.
    return { merging }
  })
  return merging
}

describe('what prevents a merge while it waits for another one into the branch', () => {
  const reasons = [
    'its approval is withdrawn',
    'a discussion is opened that must be resolved',
    'a resolved discussion is opened again',
    'the project requires more approvals',
    'the project requires a pipeline that succeeds, and it has failed',
  ] as const

  test.for(reasons)('405 for a merge while %s', async (reason, { world }) => {
    const made = await ready(world)
    const answer = await mergedDuring(world, made, () => world.root.put(`${made.at}/merge`), made.changes[reason])
    expect(answer.status, answer.text).toBe(405)
    expect((await world.root.get(made.at)).json).toMatchObject({ state: 'opened', merge_error: null })
    expect(made.project.repository.git('rev-parse', 'main')).toBe(made.base)
  })

  const squashing = {
    'the project starts to require it': { project: { squash_option: 'always' }, squashed: true },
    'the project stops to allow it': { project: { squash_option: 'never' }, own: { squash: true }, squashed: false },
    'the merge request asks for it': { own: { squash: true }, squashed: true },
  } as const

  test.for(Object.keys(squashing) as (keyof typeof squashing)[])(
    'a merge squashes as set while it waits: %s',
    async (change, { world }) => {
      const project = await storedProject(world)
      const made = await openMergeRequest(world, { project })
      const second = project.repository.commit({ b: 'b\n' }, { branch: 'scratch', parents: [made.head] })
      await pushed(await contextFor(world, world.root), project, made.branch, made.head, second)
      await afterPush(world, project)
      const { squashed, ...settings } = squashing[change]
      if (change === 'the project stops to allow it') await world.root.put(made.at, { squash: true })
      const set = () =>
        'project' in settings
          ? world.root.put(`/projects/${project.id}`, settings.project)
          : world.root.put(made.at, settings.own)
      const answer = await mergedDuring(world, made, () => world.root.put(`${made.at}/merge`), set)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json.squash_commit_sha !== null).toBe(squashed)
    },
  )

  test.for(reasons.slice(0, 3))('an automatic merge keeps waiting while %s', async (reason, { world }) => {
    const made = await ready(world)
    await made.report('running')
    expect((await made.dan.put(`${made.at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
    await changeMergeRequest(world, made.id, { merge_status: 'unchecked' })
    await made.report('success')
    const job = async () =>
      mergeAwaited.run({ projectId: made.project.id, sha: made.head }, await contextFor(world, null))
    await mergedDuring(world, made, job, made.changes[reason])
    expect((await world.root.get(made.at)).json).toMatchObject({
      state: 'opened',
      merge_when_pipeline_succeeds: true,
      merge_error: null,
    })
  })
})

/** Adds empty commits to `main` repeatedly, as another process would: without the lock. */
async function intrude(world: World, id: number, times: number): Promise<void> {
  const ctx = await contextFor(world, world.root)
  const repo = openRepository(ctx, await locate(world, id))
  const name = 'refs/heads/main' as RefName
  const who = { name: 'Eve', email: 'eve@example.com', at: new Date() }
  for (let done = 0; done < times; ) {
    const from = (await readRef(repo, name))!
    const { tree } = (await readCommit(repo, from))!
    const newCommit = { tree, parents: [from], author: who, committer: who, message: `Eve ${done}` }
    const { commit, store } = prepareCommit(repo, newCommit)
    await store()
    if ((await updateRefs(repo, [{ name, from, to: commit.oid }])) === 'moved') done++
  }
}

test('a merge whose target moves is repeated on the new commit', async ({ world }) => {
  const project = await storedProject(world)
  const opened = []
  for (let n = 0; n < 6; n++)
    opened.push(await openMergeRequest(world, { project, branch: `topic-${n}`, files: { [`file-${n}`]: `${n}\n` } }))
  const [answers] = await Promise.all([
    Promise.all(opened.map(({ at }) => world.root.put(`${at}/merge`))),
    intrude(world, project.id, 20),
  ])
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
  const line = project.repository.git('log', '--first-parent', '--format=%s', 'main').split('\n')
  expect(line.filter((title) => title.startsWith('Eve'))).toHaveLength(20)
  expect(line.filter((title) => title.startsWith('Merge branch'))).toHaveLength(6)
  expect(project.repository.git('ls-tree', '--name-only', 'main').split('\n')).toHaveLength(7)
})

/** An interrupted merge: before the target branch moved, or right after. */
async function cutOff(world: World, { moved, secondsAgo }: { moved: boolean; secondsAgo: number }) {
  const made = await openMergeRequest(world)
  const ctx = await contextFor(world, world.root)
  const row = (await findMerging(ctx.db, made.id))!
  const since = new Date(Date.now() - 1000 * secondsAgo).toISOString()
  const merging: Merging = {
    token: 'it',
    user_id: world.root.id,
    since,
    source_oid: made.head,
    squash: false,
    should_remove_source_branch: null,
  }
  await ctx.transaction((tx) => beginMerging(tx, made.id, merging))
  const repo = openRepository(ctx, row.target)
  const author = { name: 'Ann', email: 'ann@example.com', at: new Date() }
  const merge = await makeMerge(ctx, repo, row, { source: made.head, target: made.base }, { squash: false, author })
  if (merge === 'conflict') throw new Error('it has a conflict')
  await noteMergeCommit(ctx.db, made.id, 'it', {
    to: merge.to,
    merge_commit_oid: merge.mergeCommit,
    squash_commit_oid: null,
  })
  if (moved) {
    await merge.store()
    await updateRefs(repo, [{ name: 'refs/heads/main' as RefName, from: made.base, to: merge.to }])
  }
  const record = async () => (await world.root.get(made.at)).json
  const settle = async () => settleCutOffMerges.run({}, await contextFor(world, null))
  return { ...made, to: merge.to as Oid, store: merge.store, record, settle }
}

const newestHead = async (world: World, id: number) => (await latestVersion(world, id))[0].head_oid

const mergedEvents = (world: World, id: number) =>
  eventsOf(world, { kind: 'merge_request_merged', payload: { merge_request_id: id } })

describe('interrupted merges', () => {
  test('D3-MR-LOCKED: an interrupted merge is locked, then open again if the branch did not move', async ({
    world,
  }) => {
    const { at, record, settle, id } = await cutOff(world, { moved: false, secondsAgo: 300 })
    expect(await record()).toMatchObject({ state: 'locked' })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    await settle()
    expect(await record()).toMatchObject({ state: 'opened', merge_commit_sha: null })
    expect(await mergedEvents(world, id)).toEqual([])
    expect((await world.root.put(`${at}/merge`)).json.state).toBe('merged')
  })

  test('an interrupted merge whose status was being checked is completed as mergeable', async ({ world }) => {
    const { record, settle, id } = await cutOff(world, { moved: true, secondsAgo: 300 })
    await changeMergeRequest(world, id, { merge_status: 'checking' })
    await settle()
    expect(await record()).toMatchObject({ state: 'merged', merge_status: 'can_be_merged' })
  })

  test('an interrupted merge is settled after the clock was set back', async ({ world }) => {
    const { record, settle } = await cutOff(world, { moved: false, secondsAgo: -7200 })
    await settle()
    expect(await record()).toMatchObject({ state: 'opened' })
  })

  test('a recent merge is not settled, because it may still be running', async ({ world }) => {
    const { record, settle } = await cutOff(world, { moved: false, secondsAgo: 10 })
    await settle()
    expect(await record()).toMatchObject({ state: 'locked' })
  })

  test('an interrupted merge is completed with its push', async ({ world }) => {
    const made = await cutOff(world, { moved: false, secondsAgo: 1 })
    const ctx = await contextFor(world, world.root)
    const repo = openRepository(ctx, await locate(world, made.project.id))
    const name = 'refs/heads/main' as RefName
    await made.store()
    const changes = [{ name, from: made.base, to: made.to }]
    await recordIntent(
      ctx,
      {
        projectId: made.project.id,
        actorId: world.root.id,
        transport: 'api',
        options: [],
        changes,
      },
      async () => {},
    )
    await updateRefs(repo, [{ name, from: made.base, to: made.to }])
    // The recovery of a start.
    await world.recover()
    const key = `update_merge_requests:${made.project.id}`
    expect(await jobKeys(world, [key])).toEqual([{ key }])
    await afterPush(world, made.project)
    expect(await made.record()).toMatchObject({ state: 'merged', merge_commit_sha: made.to })
    expect(await mergedEvents(world, made.id)).toHaveLength(1)
  })

  test('an interrupted merge that is open again gets the commits pushed meanwhile', async ({ world }) => {
    const { settle, project, id } = await cutOff(world, { moved: false, secondsAgo: 300 })
    const head = project.repository.commit({ c: 'c\n' }, { branch: 'topic' })
    await afterPush(world, project)
    await world.takeJobs('update_merge_requests:%')
    await settle()
    const key = `update_merge_requests:${project.id}`
    expect(await jobKeys(world, [key])).toEqual([{ key }])
    await afterPush(world, project)
    expect(await newestHead(world, id)).toBe(head)
  })

  test.for(['the clock', 'the job after the push'])(
    'an interrupted merge is completed once if the branch moved: by %s',
    async (who, { world }) => {
      const { record, settle, project, to, id } = await cutOff(world, { moved: true, secondsAgo: 300 })
      for (let n = 0; n < 2; n++) await (who === 'the clock' ? settle() : afterPush(world, project))
      expect(await record()).toMatchObject({ state: 'merged', merge_commit_sha: to, merged_by: { id: world.root.id } })
      expect(await mergedEvents(world, id)).toHaveLength(1)
    },
  )
})
