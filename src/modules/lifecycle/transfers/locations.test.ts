import { describe, expect } from 'vitest'
import { changeGroup } from '../../../../test/tables/groups.ts'
import { Client, type TestGroup, test, unique, type World } from '../../../../test/world.ts'

const found = async (who: Client, path: string): Promise<string[]> =>
  (await who.get(path)).json.map(({ full_path }: TestGroup) => full_path)

/** The same user with a token that is limited to a group. */
async function limitedTo(world: World, who: Client, { id }: TestGroup): Promise<Client> {
  const made = await who.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'], group_ids: [id] })
  expect(made.status, made.text).toBe(201)
  return new Client(world.origin, { id: who.id, username: who.username, token: made.json.token })
}

describe('GET /projects/:id/transfer_locations', () => {
  test('project transfer locations are exactly the groups to which the transfer works', async ({ world }) => {
    const ann = await world.user()
    const as = (level: 'owner' | 'maintainer' | 'developer' | 'reporter', more: object = {}) =>
      world.group({ members: [[ann, level]], ...more })
    const home = await as('owner')
    const open = [await as('developer'), await as('maintainer', { project_creation_level: 'maintainer' })]
    const closed = [
      await as('developer', { project_creation_level: 'maintainer' }),
      await as('owner', { project_creation_level: 'noone' }),
      await as('reporter'),
      await world.group({ visibility: 'public' }),
    ]
    const project = await world.project({ group: home })
    const at = `/projects/${project.id}/transfer_locations`
    expect(await found(ann, at)).toEqual(open.map(({ full_path }) => full_path))
    expect(await found(ann, `${at}?search=${open[1]!.path}`)).toEqual([open[1]!.full_path])
    for (const { id } of closed)
      expect((await ann.put(`/projects/${project.id}/transfer`, { namespace: id })).status).not.toBe(200)
    for (const { id } of open) {
      expect((await ann.put(`/projects/${project.id}/transfer`, { namespace: id })).status).toBe(200)
      await world.root.put(`/projects/${project.id}/transfer`, { namespace: home.id })
    }
    expect(await found(await limitedTo(world, ann, home), at)).toEqual([])
  })

  test('administrators find every group but those being deleted, and no personal namespace', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const make = (more: object = {}) => world.group({ name: `${word} x`, ...more })
    const [home, closed, gone] = [await make(), await make({ project_creation_level: 'noone' }), await make()]
    const ann = await world.user({ username: `${word}ann` })
    await changeGroup(world, gone.id, { deleting: true })
    const project = await world.project({ group: home })
    const at = `/projects/${project.id}/transfer_locations?search=${word}`
    expect(ann.username).toContain(word)
    expect(await found(world.root, at)).toEqual([closed.full_path])
    expect(await found(world.root, `/groups/${home.id}/transfer_locations?search=${word}`)).toEqual([closed.full_path])
  })
})

describe('GET /groups/:id/transfer_locations', () => {
  test('group transfer locations are groups that accept subgroups, outside of the group', async ({ world }) => {
    const ann = await world.user()
    const parent = await world.group({ members: [[ann, 'owner']] })
    const group = await world.group({ parent })
    await world.group({ parent: group })
    const sibling = await world.group({ parent })
    const taking = await world.group({ members: [[ann, 'maintainer']] })
    await world.group({ members: [[ann, 'maintainer']], subgroup_creation_level: 'owner' })
    await world.group({ members: [[ann, 'developer']] })
    const at = `/groups/${group.id}/transfer_locations`
    expect(await found(ann, at)).toEqual([sibling.full_path, taking.full_path])
    expect(await found(await limitedTo(world, ann, parent), at)).toEqual([sibling.full_path])
    const maintainer = await world.user()
    await world.root.post(`/groups/${group.id}/members`, { user_id: maintainer.id, access_level: 40 })
    expect((await maintainer.get(at)).status).toBe(403)
  })
})
