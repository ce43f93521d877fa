import { describe, expect } from 'vitest'
import { type Client, type TestGroup, test } from '../../../../test/world.ts'

const found = async (who: Client, path: string): Promise<string[]> =>
  (await who.get(path)).json.map(({ full_path }: TestGroup) => full_path)

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
    const maintainer = await world.user()
    await world.root.post(`/groups/${group.id}/members`, { user_id: maintainer.id, access_level: 40 })
    expect((await maintainer.get(at)).status).toBe(403)
  })
})
