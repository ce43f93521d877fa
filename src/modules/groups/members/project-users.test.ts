import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'

describe('GET /projects/:id/users', () => {
  test('GET /projects/:id/users lists each member once, of any origin', async ({ world }) => {
    const [direct, above, shared, stranger] = await Promise.all(Array.from({ length: 4 }, () => world.user()))
    const group = await world.group({ visibility: 'public', members: [[above!, 'reporter']] })
    const project = await world.project({
      visibility: 'public',
      group,
      members: [
        [direct!, 'developer'],
        [above!, 'developer'],
      ],
    })
    const other = await world.group({ members: [[shared!, 'guest']] })
    await world.root.post(`/projects/${project.id}/share`, { group_id: other.id, group_access: 10 })
    const ids = async (who: Client, query = '') =>
      (await who.get(`/projects/${project.id}/users${query}`)).json.map(({ id }: { id: number }) => id)
    const all = [world.root, direct!, above!, shared!].map(({ id }) => id).sort((a, b) => a - b)
    for (const who of [world.anonymous, stranger!, direct!]) expect(await ids(who)).toEqual(all)
    expect(await ids(stranger!, `?search=${above!.username}`)).toEqual([above!.id])
    expect(await ids(stranger!, `?skip_users[]=${above!.id}&skip_users[]=${world.root.id}`)).toEqual(
      all.filter((id) => id !== above!.id && id !== world.root.id),
    )
    const [first] = (await stranger!.get(`/projects/${project.id}/users?search=${direct!.username}`)).json
    expect(Object.keys(first).sort()).toEqual(['avatar_url', 'id', 'name', 'state', 'username', 'web_url'])
  })

  test('404 for GET /projects/:id/users unless the caller can read the project', async ({ world }) => {
    const [guest, stranger] = [await world.user(), await world.user()]
    const project = await world.project({ members: [[guest, 'guest']] })
    const status = async (who: Client) => (await who.get(`/projects/${project.id}/users`)).status
    expect([await status(world.anonymous), await status(stranger), await status(guest)]).toEqual([404, 404, 200])
  })
})
