import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeMergeRequest } from '../../../../test/tables/review.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isLate } from '../../../git/sharing/late.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest, refsDropped } from '../merge-requests/testing.ts'
import { removeMergedBranch } from './remove-branch.ts'
import { afterPush, mergeStatusOf } from './testing.ts'

/** Runs the job that is queued after a merge to remove the source branch. */
async function removals(world: World, { id }: OpenedMergeRequest): Promise<void> {
  for (const { payload } of await world.takeJobs(`remove_merged_branch:${id}`))
    await removeMergedBranch.run(payload, await contextFor(world, null))
}

/** A merge request from a fork of its author into a project that another user maintains. */
async function fromFork(world: World, attributes: object) {
  const [author, maintainer] = [await world.user(), await world.user()]
  const project = await storedProject(world, { members: [[maintainer, 'maintainer']] })
  project.repository.commit({ a: 'a\n' })
  const fork = await forkOf(world, project, author)
  const opened = await openMergeRequest(world, { project, source: fork, author, ...attributes })
  const branchExists = () => fork.repository.git('for-each-ref', `refs/heads/${opened.branch}`) !== ''
  return { opened, fork, author, maintainer, branchExists }
}

const exists = ({ project, branch }: OpenedMergeRequest) =>
  project.repository.git('for-each-ref', `refs/heads/${branch}`) !== ''

describe('the source branch after a merge', () => {
  test.for([
    { wish: 'the author requests it', made: { remove_source_branch: true }, merge: {}, goes: true },
    { wish: 'no one requests it', made: { remove_source_branch: false }, merge: {}, goes: false },
    {
      wish: 'the merge requests it',
      made: { remove_source_branch: false },
      merge: { should_remove_source_branch: true },
      goes: true,
    },
    {
      wish: 'the merge overrides the author',
      made: { remove_source_branch: true },
      merge: { should_remove_source_branch: false },
      goes: false,
    },
  ])('the source branch is removed when $wish: $goes', async ({ made, merge, goes }, { world }) => {
    const opened = await openMergeRequest(world, made)
    const { json } = await world.root.put(`${opened.at}/merge`, merge)
    expect(json).toMatchObject({
      state: 'merged',
      force_remove_source_branch: made.remove_source_branch,
      should_remove_source_branch: merge.should_remove_source_branch ?? null,
    })
    expect(exists(opened)).toBe(true)
    await removals(world, opened)
    expect(exists(opened)).toBe(!goes)
  })

  const keepers: Record<string, (world: World, opened: OpenedMergeRequest) => Promise<unknown>> = {
    'it is protected': (world, { project }) =>
      world.root.post(`/projects/${project.id}/protected_branches`, { name: 'topic' }),
    'it is the default branch': (world, { project }) =>
      world.root.put(`/projects/${project.id}`, { default_branch: 'topic' }),
    'it moved since': async (_, { project }) => project.repository.commit({ c: 'c\n' }, { branch: 'topic' }),
  }

  test.for(Object.entries(keepers))('the source branch is kept when %s', async ([, keep], { world }) => {
    const opened = await openMergeRequest(world, { remove_source_branch: true })
    await world.root.put(`${opened.at}/merge`)
    await keep(world, opened)
    await removals(world, opened)
    expect(exists(opened)).toBe(true)
  })

  test('the source branch goes with the rights of the user who merged when its author asked and was blocked', async ({
    world,
  }) => {
    const [ann, dan] = [await world.user(), await world.user()]
    const opened = await openMergeRequest(world, {
      author: ann,
      members: [
        [ann, 'developer'],
        [dan, 'maintainer'],
      ],
      remove_source_branch: true,
    })
    await world.root.post(`/users/${ann.id}/block`)
    expect((await dan.put(`${opened.at}/merge`)).status).toBe(200)
    await removals(world, opened)
    expect(exists(opened)).toBe(false)
  })

  test('the source branch is kept when the user who merged can no longer push', async ({ world }) => {
    const dan = await world.user()
    const opened = await openMergeRequest(world, { members: [[dan, 'maintainer']], remove_source_branch: false })
    await dan.put(`${opened.at}/merge`, { should_remove_source_branch: true })
    await world.root.put(`/projects/${opened.project.id}/members/${dan.id}`, { access_level: 20 })
    await removals(world, opened)
    expect(exists(opened)).toBe(true)
  })
})

describe('the source branch in a fork after a merge by a maintainer of the target', () => {
  test.for([
    ['its author requests it', {}],
    ['its author and the merge request it', { should_remove_source_branch: true }],
  ] as const)('it is removed when %s', async ([, merge], { world }) => {
    const { opened, fork, author, maintainer, branchExists } = await fromFork(world, { remove_source_branch: true })
    expect(await maintainer.put(`${opened.at}/merge`, merge)).toMatchObject({ status: 200, json: { state: 'merged' } })
    await removals(world, opened)
    expect(branchExists()).toBe(false)
    const [deleted] = (await author.get(`/projects/${fork.id}/events?action=pushed`)).json
    expect(deleted).toMatchObject({ author_id: author.id, push_data: { action: 'removed', ref: opened.branch } })
  })

  test('it is kept when only the merge requests it, as the maintainer cannot push there', async ({ world }) => {
    const { opened, maintainer, branchExists } = await fromFork(world, { remove_source_branch: false })
    await maintainer.put(`${opened.at}/merge`, { should_remove_source_branch: true })
    await removals(world, opened)
    expect(branchExists()).toBe(true)
  })

  const losses: Record<string, (world: World, author: Client, fork: StoredProject) => Promise<unknown>> = {
    'is blocked': (world, author) => world.root.post(`/users/${author.id}/block`),
    'can no longer push': (world, _, fork) => world.root.post(`/projects/${fork.id}/archive`),
    'is deleted': async (world, author, fork) => {
      await world.root.put(`/projects/${fork.id}/transfer`, { namespace: world.root.username })
      await world.root.delete(`/users/${author.id}`)
    },
  }

  test.for(Object.entries(losses))('it is kept when its author requested it and %s', async ([, lose], { world }) => {
    const { opened, fork, author, maintainer, branchExists } = await fromFork(world, { remove_source_branch: true })
    await maintainer.put(`${opened.at}/merge`)
    await lose(world, author, fork)
    await removals(world, opened)
    expect(branchExists()).toBe(true)
  })
})

describe('other merge requests after a merge', () => {
  test('a merge marks contained merge requests as merged, and rechecks others', async ({ world }) => {
    const project = await storedProject(world)
    const below = await openMergeRequest(world, { project, branch: 'below' })
    const above = await openMergeRequest(world, { project, branch: 'above', files: { z: 'z\n' } })
    const beside = await openMergeRequest(world, { project, branch: 'beside', files: { y: 'y\n' } })
    const head = project.repository.commit(
      { x: 'x\n' },
      { branch: 'above', parents: [above.head, below.head] as Oid[] },
    )
    await afterPush(world, project)
    await changeMergeRequest(world, beside.id, { merge_status: 'can_be_merged' })
    expect((await world.root.put(`${above.at}/merge`, { sha: head })).json.state).toBe('merged')
    await afterPush(world, project)
    expect((await world.root.get(below.at)).json).toMatchObject({ state: 'merged', merged_by: { id: world.root.id } })
    expect(await mergeStatusOf(world, beside.id)).toBe('unchecked')
  })
})

describe('GET …/merge_ref', () => {
  test('merge_ref creates the merge result as a ref without moving branches', async ({ world }) => {
    const { at, project, head, iid } = await openMergeRequest(world)
    const main = project.repository.commit({ c: 'c\n' })
    const got = await world.root.get(`${at}/merge_ref`)
    const git = project.repository.git.bind(project.repository)
    expect(got).toMatchObject({
      status: 200,
      json: { commit_id: git('rev-parse', `refs/merge-requests/${iid}/merge`) },
    })
    expect(git('log', '-1', '--format=%P', got.json.commit_id)).toBe(`${main} ${head}`)
    expect(git('ls-tree', '--name-only', got.json.commit_id).split('\n')).toEqual(['a', 'b', 'c'])
    expect(git('rev-parse', 'main')).toBe(main)
    expect((await world.root.get(`${at}/merge_ref`)).json).toEqual(got.json)
    project.repository.commit({ d: 'd\n' })
    expect((await world.root.get(`${at}/merge_ref`)).json).not.toEqual(got.json)
  })

  test('merge_ref returns one commit, that of the ref, to users who ask for it at the same time', async ({ world }) => {
    const { at, project, iid } = await openMergeRequest(world)
    const users = await Promise.all(Array.from({ length: 4 }, () => world.user()))
    const found = await Promise.all([...users, ...users].map((user) => user.get(`${at}/merge_ref`)))
    const ref = project.repository.git('rev-parse', `refs/merge-requests/${iid}/merge`)
    expect(found.map(({ status, json }) => ({ status, json }))).toEqual(
      found.map(() => ({ status: 200, json: { commit_id: ref } })),
    )
  })

  test('merge_ref leaves no ref behind when the merge request is deleted at the same time', async ({ world }) => {
    const made = await openMergeRequest(world)
    const { at, project, iid } = made
    const { gitDir, git } = { gitDir: project.repository.gitDir, git: project.repository.git.bind(project.repository) }
    const commits = () => git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype)').match(/^commit$/gm)!
    const before = commits().length
    // The request has made its commit, and waits for the lock of the ref.
    const lock = join(gitDir, `refs/merge-requests/${iid}/merge.lock`)
    writeFileSync(lock, '')
    const asked = world.root.get(`${at}/merge_ref`)
    await expect.poll(() => commits().length).toBe(before + 1)
    const deleted = world.root.delete(at)
    await isLate(deleted, 300)
    rmSync(lock)
    expect((await deleted).status).toBe(204)
    expect([200, 404]).toContain((await asked).status)
    await refsDropped(world, made)
    expect(git('for-each-ref', 'refs/merge-requests')).toBe('')
  })

  test('400 for merge_ref of a merge request that cannot be merged', async ({ world }) => {
    const { at, project } = await openMergeRequest(world, { files: { a: 'theirs\n' } })
    project.repository.commit({ a: 'ours\n' })
    const refused = { status: 400, json: { message: 'Merge request is not mergeable' } }
    expect(await world.root.get(`${at}/merge_ref`)).toMatchObject(refused)
    const merged = await openMergeRequest(world)
    await world.root.put(`${merged.at}/merge`)
    expect(await world.root.get(`${merged.at}/merge_ref`)).toMatchObject(refused)
  })
})
