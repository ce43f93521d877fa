import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { exportOf, freshAdministrator, importOf } from '../testing.ts'

const anyBranch = { branch: 'main', commit_message: 'x', actions: [{ action: 'create', file_path: 'x', content: '' }] }

/** A project with a maintainer, and a group with which it is shared. */
async function shared(world: World) {
  const ann = await world.user()
  const project = await storedProject(world, { members: [[ann, 'maintainer']] })
  project.repository.commit({ 'a.txt': 'a\n' })
  const group = await world.group()
  const link = await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 40 })
  expect(link.status).toBe(201)
  return { ann, project, group, at: `/projects/${project.id}` }
}

/** Protects the branch `main`, tags and merge requests so that only those named may change them. */
async function protect(world: World, at: string, ...grants: readonly object[]): Promise<void> {
  const branch = {
    name: 'main',
    allowed_to_push: grants,
    allowed_to_merge: grants,
    allowed_to_unprotect: grants,
  }
  expect((await world.root.post(`${at}/protected_branches`, branch)).status).toBe(201)
  const tag = await world.root.post(`${at}/protected_tags`, { name: 'v*', allowed_to_create: grants })
  expect(tag.status).toBe(201)
}

/** The import, and the mail about what was left out. */
async function imported(world: World, from: number, by: Client) {
  const { id, import_status } = await importOf(world, await exportOf(world, from), by)
  expect(import_status).toBe('finished')
  return { at: `/projects/${id}`, mail: (await mailsTo(world, `${by.username}@example.com`)).at(-1)?.body ?? '' }
}

/** The protected branch `main` cannot be changed by a maintainer of the project. */
async function expectClosed(world: World, at: string): Promise<void> {
  const mia = await world.user()
  expect((await world.root.post(`${at}/members`, { user_id: mia.id, access_level: 40 })).status).toBe(201)
  expect((await mia.post(`${at}/repository/commits`, anyBranch)).json.message).toContain('not allowed to push')
  expect((await mia.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })).json.message).toContain('protected')
  const branch = `${at}/protected_branches/main`
  expect((await mia.send('PATCH', branch, { json: { allow_force_push: true } })).status).toBe(403)
  expect((await mia.delete(branch)).status).toBe(403)
  expect((await mia.put(`${at}/repository/branches/main/unprotect`)).status).toBe(403)
}

const administrators = [{ access_level: 60, user_id: null, group_id: null }]

describe('protections of an imported project', () => {
  test('remain closed to maintainers if no one whom they name is found', async ({ world }) => {
    const { ann, project, at } = await shared(world)
    await protect(world, at, { user_id: ann.id })
    const zoe = await world.user()
    const copy = await imported(world, project.id, zoe)
    await expectClosed(world, copy.at)
    expect((await zoe.get(`${copy.at}/protected_branches/main`)).json).toMatchObject({
      push_access_levels: [],
      merge_access_levels: [],
      unprotect_access_levels: administrators,
    })
    expect((await zoe.get(`${copy.at}/protected_tags/v%2A`)).json.create_access_levels).toEqual([])
    expect(copy.mail).toContain('protected_ref_access: 4')
    expect((await world.root.delete(`${copy.at}/protected_branches/main`)).status).toBe(204)
  })

  test('remain closed to maintainers if they name groups only', async ({ world }) => {
    const { project, group, at } = await shared(world)
    await protect(world, at, { group_id: group.id })
    const copy = await imported(world, project.id, await freshAdministrator(world))
    await expectClosed(world, copy.at)
    expect((await world.root.get(`${copy.at}/protected_branches/main`)).json).toMatchObject({
      push_access_levels: [],
      merge_access_levels: [],
      unprotect_access_levels: administrators,
    })
    expect(copy.mail).toContain('protected_ref_access: 4')
  })

  test('remain open to those who are found, and to no one else', async ({ world }) => {
    const { ann, project, group, at } = await shared(world)
    await protect(world, at, { user_id: ann.id }, { group_id: group.id })
    const copy = await imported(world, project.id, await freshAdministrator(world))
    await expectClosed(world, copy.at)
    expect((await ann.post(`${copy.at}/repository/commits`, anyBranch)).status).toBe(201)
    expect((await ann.post(`${copy.at}/repository/tags`, { tag_name: 'v1', ref: 'main' })).status).toBe(201)
    expect((await ann.delete(`${copy.at}/protected_branches/main`)).status).toBe(204)
  })

  test('stay as they are if they name roles only, or no one who may unprotect', async ({ world }) => {
    const { project, at } = await shared(world)
    await world.root.post(`${at}/protected_branches`, { name: 'main', push_access_level: 30 })
    expect((await world.root.put(`${at}/repository/branches/main/protect`)).status).toBe(200)
    await world.root.post(`${at}/protected_tags`, { name: 'v*' })
    const copy = await imported(world, project.id, await freshAdministrator(world))
    for (const path of ['/protected_branches', '/protected_tags']) {
      const without = (rules: any[]) => JSON.parse(JSON.stringify(rules, (key, each) => (key === 'id' ? 0 : each)))
      expect(without((await world.root.get(copy.at + path)).json)).toEqual(
        without((await world.root.get(at + path)).json),
      )
    }
    expect(copy.mail).toBe('')
  })

  test('approval rules require as many approvals as before, of those who are found', async ({ world }) => {
    const { ann, project, group, at } = await shared(world)
    const rule = async (name: string, named: object) =>
      expect((await world.root.post(`${at}/approval_rules`, { name, approvals_required: 2, ...named })).status).toBe(
        201,
      )
    await rule('People', { user_ids: [ann.id] })
    await rule('Group', { group_ids: [group.id] })
    const zoe = await world.user()
    const copy = await imported(world, project.id, zoe)
    expect((await zoe.get(`${copy.at}/approval_rules`)).json).toMatchObject([
      { name: 'People', rule_type: 'regular', approvals_required: 2, users: [], groups: [] },
      { name: 'Group', rule_type: 'regular', approvals_required: 2, users: [], groups: [] },
    ])
    expect(copy.mail).toContain('approval_rules_users: 1')
    expect(copy.mail).toContain('approval_rules_groups: 1')
  })
})
