import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { gitSsh, hasSsh, keyPair, sshUrl } from '../../../../test/ssh.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { batch } from '../../pushes/large-files/testing.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { rebaseSource } from '../merging/rebase.ts'
import { forkOf, openMergeRequest } from './testing.ts'

/** A merge request from another user's fork, with members of the target project. */
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

describe('collaboration on merge requests', () => {
  test('with collaboration, users who may merge push to the source branch and no other', async ({ world }) => {
    const { fork, dan, reporter, at, owner } = await fromFork(world, true)
    expect(await commit(dan, fork, 'fix')).toMatchObject({ status: 201, json: { author_name: expect.any(String) } })
    expect(await commit(dan, fork, 'other')).toMatchObject(refused)
    expect(await commit(dan, fork, 'new', { start_branch: 'fix' })).toMatchObject(refused)
    expect(await commit(reporter, fork, 'fix')).toMatchObject(refused)
    expect(await commit(await world.user(), fork, 'fix')).toMatchObject(refused)
    await owner.put(at, { allow_collaboration: false })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
  })

  test('with collaboration, users who may merge write single files', async ({ world }) => {
    const { fork, dan, reporter } = await fromFork(world, true)
    const create = (who: Client, branch: string) =>
      who.post(`/projects/${fork.id}/repository/files/${who.username}`, { branch, commit_message: 'x', content: 'x' })
    expect(await create(dan, 'fix')).toMatchObject({ status: 201 })
    expect(await create(dan, 'other')).toMatchObject({ status: 403 })
    expect(await create(reporter, 'fix')).toMatchObject({ status: 403 })
  })

  test('with collaboration, users who may merge rebase the source branch', async ({ world }) => {
    const { project, fork, dan, reporter, at, id, owner } = await fromFork(world, true)
    const main = project.repository.commit({ c: 'c\n' })
    expect((await reporter.put(`${at}/rebase`)).status).toBe(403)
    expect(await dan.put(`${at}/rebase`)).toMatchObject({ status: 202, json: { rebase_in_progress: true } })
    await rebaseSource.run({ mergeRequestId: id, actorId: dan.id }, await contextFor(world, null))
    expect(fork.repository.git('log', '-1', '--format=%P %cn', 'fix')).toBe(`${main} Name of ${dan.username}`)
    await owner.put(at, { allow_collaboration: false })
    expect((await dan.put(`${at}/rebase`)).status).toBe(403)
  })

  test('with collaboration, users who may merge push by git', async ({ world }) => {
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

  test.skipIf(!hasSsh)(
    'a deploy key that may push to the target does not collaborate (needs OpenSSH)',
    async ({ world }) => {
      const { project, fork } = await fromFork(world, true)
      await using work = await temporaryFolder()
      const key = await keyPair(work.path)
      const add = (id: number, can_push: boolean) =>
        world.root.post(`/projects/${id}/deploy_keys`, { title: 'robot', key: key.text, can_push })
      expect((await add(project.id, true)).status).toBe(201)
      expect((await add(fork.id, false)).status).toBe(201)
      const folder = `${work.path}/clone`
      expect((await gitSsh(world, key, work.path, 'clone', '-q', '-b', 'fix', sshUrl(world, fork), folder)).code).toBe(
        0,
      )
      await git(folder, 'commit', '-q', '--allow-empty', '-m', 'Helped')
      expect((await gitSsh(world, key, folder, 'push', 'origin', 'fix')).err).toContain('does not have write access')
      expect(fork.repository.git('log', '-1', '--format=%s', 'fix')).not.toBe('Helped')
    },
  )

  test('with collaboration, users who may merge upload LFS files', async ({ world }) => {
    const { fork, dan, reporter, owner, at } = await fromFork(world, true)
    expect((await batch(dan, fork, 'upload', ['large'])).status).toBe(200)
    expect((await batch(reporter, fork, 'upload', ['large'])).status).toBe(403)
    await owner.put(at, { allow_collaboration: false })
    expect((await batch(dan, fork, 'upload', ['large'])).status).toBe(403)
  })

  test('no collaboration on a protected branch, without merge access, or on a closed request', async ({ world }) => {
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

  test('403 for pushes unless the merge request allows collaboration', async ({ world }) => {
    const { fork, dan } = await fromFork(world, false)
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    const remote = `${world.origin.replace('//', `//x:${dan.token}@`)}/${fork.full_path}.git`
    await using work = await temporaryFolder()
    await git(work.path, 'clone', '-q', '-b', 'fix', remote, '.')
    await expect(git(work.path, 'push', '-q', 'origin', 'fix:fix')).rejects.toThrow('not allowed to push code')
  })

  test('404 for collaboration on a source project that the user cannot see', async ({ world }) => {
    const { fork, dan } = await fromFork(world, true)
    await changeProject(world, fork.id, { visibility: 0 })
    expect(await commit(dan, fork, 'fix')).toMatchObject({ status: 404 })
  })

  test('only users who can push to the source project change collaboration', async ({ world }) => {
    const { fork, dan, at, owner } = await fromFork(world, false)
    expect((await dan.put(at, { allow_collaboration: true, title: 'Renamed' })).json).toMatchObject({
      allow_collaboration: false,
      title: 'Renamed',
    })
    expect(await commit(dan, fork, 'fix')).toMatchObject(refused)
    await owner.put(at, { allow_collaboration: true })
    expect((await dan.put(at, { allow_maintainer_to_push: false })).json).toMatchObject({ allow_collaboration: true })
  })

  test('collaboration ends when the user who enabled it loses push access', async ({ world }) => {
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
