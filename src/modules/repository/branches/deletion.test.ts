import { describe, expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { pushesTo } from '../../../../test/tables/pushes.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { recordIntent } from '../../pushes/pushes/journal.ts'
import { insertPush } from '../../pushes/pushes/queries.ts'
import { duringMove, storedProject } from '../commits/testing.ts'
import { deleteMergedBranches } from './jobs.ts'
import { branchAt } from './testing.ts'

describe('DELETE branches', () => {
  test('deleting a branch deletes its ref', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/heads/a/b', 'main')
    expect(await ann.delete(branchAt(id, 'a/b'))).toMatchObject({ status: 204, text: '' })
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect(await ann.delete(branchAt(id, 'a/b'))).toMatchObject({
      status: 404,
      json: { message: '404 Branch Not Found' },
    })
    expect(await ann.delete(branchAt(id, 'main'))).toMatchObject({
      status: 400,
      json: { message: 'The default branch of a project cannot be deleted.' },
    })
  })

  test('a branch does not become the default branch while it is deleted', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { id, full_path, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as never, world.root)
    await git(folder.path, 'init', '-q')
    for (let round = 0; round < 20; round++) {
      const branch = `x${round}`
      repository.git('update-ref', `refs/heads/${branch}`, 'main')
      const push = () => git(folder.path, 'push', '-q', url, `:${branch}`).catch((error: { stderr: string }) => error)
      await Promise.all([
        world.root.put(`/projects/${id}`, { default_branch: branch }),
        round % 2 === 0 ? world.root.delete(branchAt(id, branch)) : push(),
      ])
      const { default_branch } = (await world.root.get(`/projects/${id}`)).json
      expect((await world.root.get(branchAt(id, default_branch))).status, `round ${round}`).toBe(200)
      await world.root.put(`/projects/${id}`, { default_branch: 'main' })
    }
  })

  test('a branch does not become the default branch while the record of its deletion is being written', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const from = repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/heads/x', 'main')
    const changes = [{ name: 'refs/heads/x' as RefName, from, to: null }]
    const { chosen } = await world.db.transaction(async (tx) => {
      await insertPush(tx, { projectId: id, actorId: 1, transport: 'http', options: [], changes })
      let isAnswered = false
      const chosen = world.root.put(`/projects/${id}`, { default_branch: 'x' }).finally(() => {
        isAnswered = true
      })
      await expect.poll(async () => isAnswered || (await waitingFor(world, 'lock')).length > 0).toBe(true)
      return { chosen }
    })
    expect((await chosen).status).toBe(400)
  })

  test('a branch becomes the default branch while only another branch, or one of another project, is deleted', async ({
    world,
  }) => {
    const [project, other] = [await storedProject(world), await storedProject(world)]
    for (const { repository } of [project, other]) {
      repository.commit({ a: '1' })
      for (const name of ['x', 'y']) repository.git('update-ref', `refs/heads/${name}`, 'main')
    }
    const from = project.repository.git('rev-parse', 'x') as Oid
    const pushes = { actorId: 1, transport: 'http', options: [] } as const
    const ctx = await world.app.open(null)
    for (const [{ id }, name] of [
      [project, 'x'],
      [other, 'y'],
    ] as const)
      await recordIntent(
        ctx,
        {
          ...pushes,
          projectId: id,
          changes: [{ name: `refs/heads/${name}` as RefName, from, to: null }],
        },
        async () => {},
      )
    const choose = (default_branch: string) => world.root.put(`/projects/${project.id}`, { default_branch })
    expect(await choose('x')).toMatchObject({
      status: 400,
      json: { message: { base: ["Could not change HEAD: branch 'x' is being deleted"] } },
    })
    expect(await choose('y')).toMatchObject({ status: 200, json: { default_branch: 'y' } })
  })

  test('a branch that moves during its deletion is deleted', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' })
    repository.commit({ a: '2' })
    repository.git('update-ref', 'refs/heads/x', first)
    const deletion = await duringMove(
      world,
      id,
      () => world.root.delete(branchAt(id, 'x')),
      () => repository.git('update-ref', 'refs/heads/x', 'main'),
    )
    expect(deletion).toMatchObject({ status: 204, text: '' })
    expect(repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })

  test('412 when a branch gets a newer commit than If-Unmodified-Since during its deletion', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const first = repository.commit({ a: '1' }, { seconds: 1_600_000_000 })
    repository.commit({ a: '2' }, { seconds: 1_600_000_001 })
    repository.git('update-ref', 'refs/heads/x', first)
    const headers = { 'if-unmodified-since': new Date(1_600_000_000_000).toUTCString() }
    const deletion = await duringMove(
      world,
      id,
      () => world.root.delete(branchAt(id, 'x'), { headers }),
      () => repository.git('update-ref', 'refs/heads/x', 'main'),
    )
    expect(deletion).toMatchObject({ status: 412 })
    expect(repository.git('rev-parse', 'refs/heads/x')).toBe(repository.git('rev-parse', 'main'))
  })

  test('404 for a branch that another client deletes first', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    repository.git('update-ref', 'refs/heads/x', 'main')
    const deletion = await duringMove(
      world,
      id,
      () => world.root.delete(branchAt(id, 'x')),
      () => repository.git('update-ref', '-d', 'refs/heads/x'),
    )
    expect(deletion).toMatchObject({ status: 404, json: { message: '404 Branch Not Found' } })
  })

  test('412 when the commit of a branch is newer than If-Unmodified-Since', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' }, { seconds: 1_600_000_000 })
    repository.git('update-ref', 'refs/heads/x', 'main')
    const since = (seconds: number) => ({ headers: { 'if-unmodified-since': new Date(seconds * 1000).toUTCString() } })
    expect(await world.root.delete(branchAt(id, 'x'), since(1_599_999_999))).toMatchObject({ status: 412 })
    expect(await world.root.delete(branchAt(id, 'nothing'), since(0))).toMatchObject({ status: 404 })
    expect(await world.root.delete(branchAt(id, 'x'), since(1_600_000_000))).toMatchObject({ status: 204 })
  })

  test('merged branches are deleted by a job, except protected ones and the default', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const first = repository.commit({ a: '1' })
    repository.commit({ a: '2' })
    for (const name of ['old', 'older/x', 'kept-1']) repository.git('update-ref', `refs/heads/${name}`, first)
    repository.git('update-ref', 'refs/heads/same', 'main')
    repository.commit({ b: '1' }, { branch: 'ahead', parents: [first] })
    await world.root.post(`/projects/${id}/protected_branches`, { name: 'kept-*' })
    expect(await ann.delete(`/projects/${id}/repository/merged_branches`)).toMatchObject({
      status: 202,
      json: { message: '202 Accepted' },
    })
    expect(await world.jobs(`delete_merged_branches:${id}:${ann.id}`)).toHaveLength(1)
    const run = () =>
      world.app.open(null).then((ctx) => deleteMergedBranches.run({ projectId: id, actorId: ann.id }, ctx))
    await run()
    await run()
    expect(repository.git('for-each-ref', '--format=%(refname:short)')).toBe('ahead\nkept-1\nmain\nsame')
    const pushes = await pushesTo(world, id, 'actor_id', 'refs')
    expect(pushes).toEqual([{ actor_id: ann.id, refs: 2 }])
  })

  test('merged branches are not deleted when the user loses the permission before the job', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'developer']] })
    const first = repository.commit({ a: '1' })
    repository.commit({ a: '2' })
    repository.git('update-ref', 'refs/heads/old', first)
    await world.root.put(`/projects/${id}/members/${ann.id}`, { access_level: 20 })
    await deleteMergedBranches.run({ projectId: id, actorId: ann.id }, await world.app.open(null))
    expect(repository.git('rev-parse', 'refs/heads/old')).toBe(first)
  })
})
