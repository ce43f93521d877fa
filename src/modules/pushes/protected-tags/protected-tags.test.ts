import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { hostileRefs, storedProject } from '../../repository/commits/testing.ts'

const rulesOf = (id: number) => `/projects/${id}/protected_tags`
const at = (id: number, name: string) => `${rulesOf(id)}/${encodeURIComponent(name)}`

describe('protected tags', () => {
  test('protected tags are created, read, listed and deleted', async ({ world }) => {
    const mia = await world.user()
    const { id } = await world.project({ members: [[mia, 'maintainer']] })
    const made = await mia.post(rulesOf(id), { name: 'v/*', create_access_level: 30 })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'v/*',
        create_access_levels: [
          { access_level: 30, access_level_description: 'Developers + Maintainers', user_id: null, group_id: null },
        ],
      },
    })
    expect((await mia.post(rulesOf(id), { name: 'w' })).json.create_access_levels).toMatchObject([{ access_level: 40 }])
    expect(await mia.get(at(id, 'v/*'))).toMatchObject({ status: 200, json: made.json })
    expect((await mia.get(rulesOf(id))).json).toMatchObject([{ name: 'v/*' }, { name: 'w' }])
    expect(await mia.post(rulesOf(id), { name: 'w' })).toMatchObject({
      status: 409,
      json: { message: "Protected tag 'w' already exists" },
    })
    // A branch of the same name is unaffected.
    expect((await mia.post(`/projects/${id}/protected_branches`, { name: 'w' })).status).toBe(201)
    expect((await mia.delete(at(id, 'w'))).status).toBe(204)
    expect(await mia.get(at(id, 'w'))).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await mia.get(`/projects/${id}/protected_branches/w`)).status).toBe(200)
  })

  test('a protected tag protects no branch of its name, and a protected branch no tag', async ({ world }) => {
    const dan = await world.user()
    const { id, repository } = await storedProject(world, { members: [[dan, 'developer']] })
    repository.commit({ a: 'a\n' })
    expect((await world.root.post(rulesOf(id), { name: 'v*' })).status).toBe(201)
    expect((await world.root.post(`/projects/${id}/protected_branches`, { name: 'w*' })).status).toBe(201)
    const make = async (kind: 'branches' | 'tags', name: string) => {
      const named = kind === 'tags' ? { tag_name: name } : { branch: name }
      const { status, json } = await dan.post(`/projects/${id}/repository/${kind}`, { ...named, ref: 'main' })
      return [status, json.protected]
    }
    expect(await make('branches', 'v1')).toEqual([201, false])
    expect(await make('tags', 'w1')).toEqual([201, false])
    expect((await make('branches', 'w1'))[0]).not.toBe(201)
    expect((await make('tags', 'v1'))[0]).not.toBe(201)
    const content = { branch: 'v1', commit_message: 'x', content: 'x' }
    expect((await dan.post(`/projects/${id}/repository/files/b`, content)).status).toBe(201)
  })

  test('users can be named in protected tags', async ({ world }) => {
    const mia = await world.user()
    const { id } = await world.project({ members: [[mia, 'maintainer']] })
    expect(await mia.post(rulesOf(id), { name: 'x', allowed_to_create: [{ user_id: mia.id }] })).toMatchObject({
      status: 201,
      json: { create_access_levels: [{ user_id: mia.id, access_level: null }] },
    })
    expect(await mia.post(rulesOf(id), { name: 'y', allowed_to_create: [{ user_id: 999_999 }] })).toMatchObject({
      status: 422,
    })
  })

  test.for([
    ['guest', 403],
    ['reporter', 403],
    ['developer', 403],
    ['maintainer', 200],
  ] as const)('protected tags for a %s: %i', async ([level, status], { world }) => {
    const ann = await world.user()
    const { id } = await world.project({ members: [[ann, level]] })
    await world.root.post(rulesOf(id), { name: 'v' })
    const good = (success: number) => (status === 200 ? success : status)
    expect((await ann.get(rulesOf(id))).status).toBe(status)
    expect((await ann.get(at(id, 'v'))).status).toBe(status)
    expect((await ann.post(rulesOf(id), { name: 'w' })).status).toBe(good(201))
    expect((await ann.delete(at(id, 'v'))).status).toBe(good(204))
  })

  test('hostile names of protected tags cause no 500', async ({ world }) => {
    const { id } = await world.project()
    for (const name of hostileRefs) {
      const made = await world.root.post(rulesOf(id), { name })
      expect([201, 400], `${JSON.stringify(name)}: ${made.text}`).toContain(made.status)
      expect((await world.root.get(at(id, name))).status).toBeLessThan(500)
      expect((await world.root.delete(at(id, name))).status).toBeLessThan(500)
    }
    expect((await world.root.get(rulesOf(id))).json).toEqual([])
  })
})
