import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'

const [one, two] = ['1'.repeat(40), '2'.repeat(40)] as const

const at = (id: number, path: string) => `/projects/${id}/repository/submodules/${encodeURIComponent(path)}`

async function withSubmodule(world: World) {
  const dan = await world.user()
  const project = await storedProject(world, { members: [[dan, 'developer']] })
  const first = project.repository.commit({ 'lib/words': { mode: '160000', oid: one as never }, a: 'a\n' })
  return { ...project, first, dan }
}

describe('PUT /projects/:id/repository/submodules/:submodule', () => {
  test('PUT of a submodule commits its new target', async ({ world }) => {
    const { id, repository, first, dan } = await withSubmodule(world)
    const made = await dan.put(at(id, 'lib/words'), { branch: 'main', commit_sha: two })
    expect(made).toMatchObject({
      status: 200,
      json: {
        id: repository.git('rev-parse', 'main'),
        parent_ids: [first],
        message: `Update submodule lib/words with oid ${two}`,
        project_id: id,
      },
    })
    expect(repository.git('ls-tree', '-r', 'main')).toContain(`160000 commit ${two}\tlib/words`)
    const again = await dan.put(at(id, 'lib/words'), { branch: 'main', commit_sha: one, commit_message: 'Back' })
    expect(again.json.title).toBe('Back')
  })

  test.for([
    ['lib/words', { commit_sha: one }, { message: `The submodule lib/words is already at ${one}` }],
    ['a', {}, { message: 'Invalid submodule path' }],
    ['none', {}, { message: 'Invalid submodule path' }],
    ['lib', {}, { message: 'Invalid submodule path' }],
    ['lib/words', { commit_sha: 'main' }, { error: 'commit_sha does not have a valid value' }],
    ['lib/words', { commit_sha: '0'.repeat(40) }, { error: 'commit_sha does not have a valid value' }],
    ['lib/words', { commit_sha: undefined }, { error: 'commit_sha is missing' }],
    ['lib/words', { branch: '' }, { error: 'branch is empty' }],
    ['../words', {}, { error: 'submodule should be a valid file path' }],
  ] as const)('PUT of the submodule %s with %j is refused', async ([path, more, answer], { world }) => {
    const { id, repository, first, dan } = await withSubmodule(world)
    const sent = { branch: 'main', commit_sha: two, ...more }
    expect(await dan.put(at(id, path), sent)).toMatchObject({ status: 400, json: answer })
    expect(repository.git('rev-parse', 'main')).toBe(first)
  })

  test('400 for PUT of a submodule on a protected branch without push access', async ({ world }) => {
    const { id, dan } = await withSubmodule(world)
    await world.root.post(`/projects/${id}/protected_branches`, { name: 'main' })
    expect(await dan.put(at(id, 'lib/words'), { branch: 'main', commit_sha: two })).toMatchObject({
      status: 400,
      json: { message: 'You are not allowed to push into this branch' },
    })
  })
})
