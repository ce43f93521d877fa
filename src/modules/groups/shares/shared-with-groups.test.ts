import { beforeEach, describe, expect } from 'vitest'
import { type Client, type TestGroup, test } from '../../../../test/world.ts'

type Share = { group_id: number }
const idsOf = (shares: Share[]) => shares.map(({ group_id }) => group_id)

describe('shared_with_groups', () => {
  let [secret, open] = [] as unknown as [TestGroup, TestGroup]
  beforeEach(async ({ world }: { world: any }) => {
    secret = await world.group()
    open = await world.group({ visibility: 'public' })
  })
  const share = async (root: Client, path: string, group: TestGroup) =>
    expect((await root.post(`${path}/share`, { group_id: group.id, group_access: 20 })).status).toBe(201)

  test('shared_with_groups of a project has private groups for their members and maintainers', async ({ world }) => {
    const [stranger, dev, boss, insider] = await Promise.all([world.user(), world.user(), world.user(), world.user()])
    const project = await world.project({
      visibility: 'public',
      members: [
        [dev, 'developer'],
        [boss, 'maintainer'],
      ],
    })
    await world.root.post(`/groups/${secret.id}/members`, { user_id: insider.id, access_level: 10 })
    await share(world.root, `/projects/${project.id}`, secret)
    await share(world.root, `/projects/${project.id}`, open)
    const seen = async (who: Client) => {
      const one = (await who.get(`/projects/${project.id}`)).json.shared_with_groups
      expect((await who.get(`/projects?search=${project.path}`)).json[0].shared_with_groups).toEqual(one)
      expect((await who.get(`/projects/${project.id}?license=true`)).json.shared_with_groups).toEqual(one)
      return idsOf(one)
    }
    // Twice: the second time the records of others are cached as text.
    for (const _ of [1, 2]) {
      expect(await seen(insider)).toEqual([secret.id, open.id])
      expect(await seen(stranger)).toEqual([open.id])
      expect(await seen(dev)).toEqual([open.id])
      expect(await seen(boss)).toEqual([secret.id, open.id])
      expect(await seen(world.root)).toEqual([secret.id, open.id])
    }
  })

  test('shared_with_groups of a project has a group exactly while the caller can see it', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ visibility: 'public' })
    await share(world.root, `/projects/${project.id}`, secret)
    const seen = async () => idsOf((await ann.get(`/projects/${project.id}`)).json.shared_with_groups)
    expect(await seen()).toEqual([])
    await world.root.post(`/groups/${secret.id}/members`, { user_id: ann.id, access_level: 10 })
    expect(await seen()).toEqual([secret.id])
    await world.root.delete(`/groups/${secret.id}/members/${ann.id}`)
    expect(await seen()).toEqual([])
    await world.root.put(`/groups/${secret.id}`, { visibility: 'internal' })
    expect(await seen()).toEqual([secret.id])
    await world.root.delete(`/projects/${project.id}/share/${secret.id}`)
    expect(await seen()).toEqual([])
  })

  test('shared_with_groups of a group has private groups for their members and owners', async ({ world }) => {
    const [stranger, boss, owner, insider] = await Promise.all([world.user(), world.user(), world.user(), world.user()])
    const group = await world.group({
      visibility: 'public',
      members: [
        [boss, 'maintainer'],
        [owner, 'owner'],
      ],
    })
    await world.root.post(`/groups/${secret.id}/members`, { user_id: insider.id, access_level: 10 })
    await share(world.root, `/groups/${group.id}`, secret)
    await share(world.root, `/groups/${group.id}`, open)
    const seen = async (who: Client) => idsOf((await who.get(`/groups/${group.id}`)).json.shared_with_groups)
    for (const who of [world.anonymous, stranger, boss]) expect(await seen(who)).toEqual([open.id])
    for (const who of [insider, owner, world.root]) expect(await seen(who)).toEqual([secret.id, open.id])
  })
})
