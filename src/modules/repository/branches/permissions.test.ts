import { describe, expect } from 'vitest'
import { allScopes, test, unique } from '../../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'
import { branchAt, branchesOf } from './testing.ts'

describe('permissions for branches', () => {
  test.for([
    { who: 'anonymous', visibility: 'public', level: undefined, read: 200, write: 401, protect: 401 },
    { who: 'anonymous', visibility: 'private', level: undefined, read: 404, write: 401, protect: 401 },
    { who: 'a stranger', visibility: 'public', level: 'none', read: 200, write: 403, protect: 403 },
    { who: 'a stranger', visibility: 'internal', level: 'none', read: 200, write: 403, protect: 403 },
    { who: 'a stranger', visibility: 'private', level: 'none', read: 404, write: 404, protect: 404 },
    { who: 'a guest', visibility: 'private', level: 'guest', read: 403, write: 403, protect: 403 },
    { who: 'a reporter', visibility: 'private', level: 'reporter', read: 200, write: 403, protect: 403 },
    { who: 'a developer', visibility: 'private', level: 'developer', read: 200, write: 201, protect: 403 },
    { who: 'a maintainer', visibility: 'private', level: 'maintainer', read: 200, write: 201, protect: 200 },
  ] as const)(
    '$who, $visibility project: reads $read, writes $write, protects $protect',
    async ({ who, visibility, level, read, write, protect }, { world }) => {
      const ann = who === 'anonymous' ? world.anonymous : await world.user()
      const { id, repository } = await storedProject(world, {
        visibility,
        members: level === undefined || level === 'none' ? [] : [[ann, level]],
      })
      repository.commit({ a: '1' })
      repository.git('update-ref', 'refs/heads/old', 'main')
      expect((await ann.get(branchesOf(id))).status).toBe(read)
      expect((await ann.get(branchAt(id, 'main'))).status).toBe(read)
      expect((await ann.post(branchesOf(id), { branch: 'new', ref: 'main' })).status).toBe(write)
      const deleted = write === 201 ? 204 : write
      expect((await ann.delete(branchAt(id, 'old'))).status).toBe(deleted)
      expect((await ann.delete(`/projects/${id}/repository/merged_branches`)).status).toBe(write === 201 ? 202 : write)
      expect((await ann.put(`${branchAt(id, 'main')}/protect`)).status).toBe(protect)
      expect((await ann.put(`${branchAt(id, 'main')}/unprotect`)).status).toBe(protect)
    },
  )

  test('branches of an archived project are read-only', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    await world.archive({ id } as never)
    expect((await world.root.get(branchesOf(id))).json).toMatchObject([{ can_push: false }])
    expect((await world.root.post(branchesOf(id), { branch: 'new', ref: 'main' })).status).toBe(403)
    expect((await world.root.delete(branchAt(id, 'main'))).status).toBe(403)
    expect((await world.root.delete(`/projects/${id}/repository/merged_branches`)).status).toBe(403)
  })

  test('403 for branches when the repository is disabled', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const off = {
      repository_access_level: 'disabled',
      merge_requests_access_level: 'disabled',
      builds_access_level: 'disabled',
    }
    expect((await world.root.put(`/projects/${id}`, off)).status).toBe(200)
    expect((await world.root.get(branchesOf(id))).status).toBe(403)
    expect((await world.root.post(branchesOf(id), { branch: 'new', ref: 'main' })).status).toBe(403)
  })

  test('403 for creating a branch with a token that may only read', async ({ world }) => {
    const ann = await world.user()
    const { id, repository } = await storedProject(world, { members: [[ann, 'maintainer']] })
    repository.commit({ a: '1' })
    for (const scope of allScopes.filter((each) => each !== 'api' && each !== 'sudo')) {
      const narrow = await world.as(ann, [scope])
      const got = await narrow.post(branchesOf(id), { branch: unique('x'), ref: 'main' })
      expect(got, scope).toMatchObject({ status: 403, json: { error: 'insufficient_scope' } })
    }
  })
})
