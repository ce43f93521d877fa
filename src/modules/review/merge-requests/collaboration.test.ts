import { describe, expect } from 'vitest'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { batch } from '../../pushes/large-files/testing.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from './testing.ts'

/** A stranger's merge request from a fork of his, and people of the target. */
async function fromFork(world: World, allow_collaboration: boolean) {
  const [owner, dan, reporter] = [await world.user(), await world.user(), await world.user()]
  const members: [Client, Level][] = [
    [dan, 'developer'],
    [reporter, 'reporter'],
  ]
  const project = await storedProject(world, { members })
  project.repository.commit({ a: 'a\n' })
  const fork = await forkOf(world, project, owner)
  const made = await openMergeRequest(world, {
    project,
    source: fork,
    author: owner,
    branch: 'fix',
    allow_collaboration,
  })
  fork.repository.git('branch', 'other', 'fix')
  return { ...made, fork, owner, dan, reporter }
}

const commit = (who: Client, { id }: StoredProject, branch: string, more: object = {}) =>
  who.post(`/projects/${id}/repository/commits`, {
    branch,
    commit_message: 'Helped',
    actions: [{ action: 'create', file_path: `by-${who.username}-${branch}`, content: 'x' }],
    ...more,
  })

const more = (name: string) => ({ actions: [{ action: 'create', file_path: name, content: 'x' }] })

const refused = { status: 403, json: { message: '403 Forbidden - You are not allowed to push into this branch' } }

describe('a merge request that allows it', () => {
  test('lets those push to its source branch who may merge it, and to no other', async ({ world }) => {
    const { fork, dan, reporter, at, owner } = await fromFork(world, true)
    expect(await commit(dan, fork, 'fix')).toMatchObject({ status: 201, json: { author_name: expect.any(String) } })
    expect(await commit(dan, fork, 'other')).toMatchObject(refused)
    expect(await commit(dan, fork, 'new', { start_branch: 'fix' })).toMatchObject(refused)
    expect(await commit(reporter, fork, 'fix')).toMatchObject(refused)
    expect(await commit(await world.user(), fork, 'fix')).toMatchObject(refused)
    await owner.put(at, { allow_collaboration: false })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
  })

  test('does so file by file', async ({ world }) => {
    const { fork, dan, reporter } = await fromFork(world, true)
    const create = (who: Client, branch: string) =>
      who.post(`/projects/${fork.id}/repository/files/${who.username}`, { branch, commit_message: 'x', content: 'x' })
    expect(await create(dan, 'fix')).toMatchObject({ status: 201 })
    expect(await create(dan, 'other')).toMatchObject({ status: 403 })
    expect(await create(reporter, 'fix')).toMatchObject({ status: 403 })
  })

  test('does so through git', async ({ world }) => {
    const { fork, dan } = await fromFork(world, true)
    await using work = await temporaryFolder()
    const remote = `${world.origin.replace('//', `//x:${dan.token}@`)}/${fork.full_path}.git`
    await git(work.path, 'clone', '-q', '-b', 'fix', remote, '.')
    await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'Helped')
    await git(work.path, 'push', '-q', 'origin', 'fix')
    expect(fork.repository.git('log', '-1', '--format=%s', 'fix')).toBe('Helped')
    await expect(git(work.path, 'push', '-q', 'origin', 'fix:other')).rejects.toThrow('not allowed to push code')
    await expect(git(work.path, 'push', '-q', 'origin', 'fix:new')).rejects.toThrow('not allowed to push code')
    await expect(git(work.path, 'push', '-q', 'origin', ':fix')).rejects.toThrow('not allowed to push code')
    await expect(git(work.path, 'push', '-q', 'origin', 'fix', 'fix:other')).rejects.toThrow('not allowed')
  })

  test('and large files come along', async ({ world }) => {
    const { fork, dan, reporter, owner, at } = await fromFork(world, true)
    expect((await batch(dan, fork, 'upload', ['large'])).status).toBe(200)
    expect((await batch(reporter, fork, 'upload', ['large'])).status).toBe(403)
    await owner.put(at, { allow_collaboration: false })
    expect((await batch(dan, fork, 'upload', ['large'])).status).toBe(403)
  })

  test('not where the branch is protected, the target keeps merging for others, or it is closed', async ({ world }) => {
    const { project, fork, dan, owner, at } = await fromFork(world, true)
    await owner.post(`/projects/${fork.id}/protected_branches`, { name: 'fix' })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    await owner.delete(`/projects/${fork.id}/protected_branches/fix`)
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    await world.root.delete(`/projects/${project.id}/protected_branches/main`)
    expect(await commit(dan, fork, 'fix')).toMatchObject({ status: 201 })
    await owner.put(at, { state_event: 'close' })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
  })

  test('not without its leave', async ({ world }) => {
    const { fork, dan } = await fromFork(world, false)
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    const remote = `${world.origin.replace('//', `//x:${dan.token}@`)}/${fork.full_path}.git`
    await using work = await temporaryFolder()
    await git(work.path, 'clone', '-q', '-b', 'fix', remote, '.')
    await expect(git(work.path, 'push', '-q', 'origin', 'fix:fix')).rejects.toThrow('not allowed to push code')
  })

  test('nor in a project that the caller does not see', async ({ world }) => {
    const { fork, dan } = await fromFork(world, true)
    await world.rows('update projects set visibility = 0 where id = $1', [fork.id])
    expect(await commit(dan, fork, 'fix')).toMatchObject({ status: 404 })
  })

  test('stays off when a maintainer of the target sets it for the fork of another user', async ({ world }) => {
    const { fork, dan, at, owner } = await fromFork(world, false)
    expect((await dan.put(at, { allow_collaboration: true, title: 'Renamed' })).json).toMatchObject({
      allow_collaboration: false,
      title: 'Renamed',
    })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    await owner.put(at, { allow_collaboration: true })
    expect((await dan.put(at, { allow_maintainer_to_push: false })).json).toMatchObject({ allow_collaboration: true })
  })

  test('ends when the user who set it can no longer push to the source project', async ({ world }) => {
    const [ann, dan] = [await world.user(), await world.user()]
    const source = await storedProject(world, { members: [[ann, 'developer']] })
    source.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, source, dan)
    await openMergeRequest(world, { project: fork, source, author: ann, branch: 'fix', allow_collaboration: true })
    const member = `/projects/${source.id}/members/${ann.id}`
    expect(await commit(dan, source, 'fix')).toMatchObject({ status: 201 })
    await world.root.put(member, { access_level: 20 })
    expect(await commit(dan, source, 'fix', more('reporter'))).toMatchObject(refused)
    await world.root.put(member, { access_level: 30 })
    expect(await commit(dan, source, 'fix', more('again'))).toMatchObject({ status: 201 })
    await world.root.post(`/users/${ann.id}/block`)
    expect(await commit(dan, source, 'fix', more('blocked'))).toMatchObject(refused)
    await world.root.post(`/users/${ann.id}/unblock`)
    await world.root.delete(member)
    expect(await commit(dan, source, 'fix', more('removed'))).toMatchObject(refused)
  })
})
