import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'

describe('GET /namespaces', () => {
  test('"GET /namespaces lists the caller\'s personal namespace and groups"', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'guest']] })
    await world.group({ visibility: 'public' })

    const found = await ann.get('/namespaces')

    expect(found.status).toBe(200)
    expect(found.json).toHaveLength(2)
    expect(found.json[0]).toEqual({
      id: expect.any(Number),
      name: `Name of ${ann.username}`,
      path: ann.username,
      kind: 'user',
      full_path: ann.username,
      parent_id: null,
      avatar_url: expect.stringContaining('gravatar.com'),
      web_url: `${world.origin}/${ann.username}`,
    })
    // Only maintainers of the group see the count.
    expect(found.json[1]).toMatchObject({
      id: group.id,
      kind: 'group',
      web_url: `${world.origin}/groups/${group.path}`,
    })
    expect(found.json[1]).not.toHaveProperty('members_count_with_descendants')
  })

  test('namespaces have member counts for maintainers and can be filtered', async ({ world }) => {
    const ann = await world.user()
    const kept = await world.group({ members: [[ann, 'maintainer']] })
    const ids = async (query: string) =>
      (await ann.get(`/namespaces?${query}`)).json.map(({ id }: { id: number }) => id)
    expect((await ann.get(`/namespaces?search=${kept.path}`)).json).toMatchObject([
      { id: kept.id, members_count_with_descendants: 2 },
    ])
    expect(await ids('owned_only=true')).not.toContain(kept.id)
    expect(await ids('owned_only=true')).toHaveLength(1)
    expect(await ids(`search=${unique('nothing')}`)).toEqual([])
    expect((await world.anonymous.get('/namespaces')).status).toBe(401)
  })

  test('members_count_with_descendants counts members of the group and of those below it, each once', async ({
    world,
  }) => {
    const [ann, bob, eve, out] = [await world.user(), await world.user(), await world.user(), await world.user()]
    const top = await world.group({ members: [[ann, 'maintainer']] })
    const inner = await world.group({ parent: top, members: [[bob, 'guest']] })
    const deep = await world.group({
      parent: inner,
      members: [
        [bob, 'reporter'],
        [eve, 'guest'],
      ],
    })
    await world.root.post(`/groups/${deep.id}/members`, { user_id: out.id, access_level: 10, expires_at: '2020-01-01' })
    const counted = async ({ id }: { id: number }) =>
      (await ann.get(`/namespaces/${id}`)).json.members_count_with_descendants
    // The first administrator owns all three.
    expect(await counted(top)).toBe(4)
    expect(await counted(inner)).toBe(3)
    expect(await counted(deep)).toBe(3)
  })
})

describe('GET /namespaces/:id', () => {
  test('a namespace is found by id and full path, in any case', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'guest']] })
    const inner = await world.group({ parent: top })
    for (const name of [
      String(inner.id),
      encodeURIComponent(inner.full_path),
      encodeURIComponent(inner.full_path.toUpperCase()),
    ])
      expect(await ann.get(`/namespaces/${name}`)).toMatchObject({
        status: 200,
        json: { id: inner.id, parent_id: top.id },
      })
  })

  test('`.json` after a full path is part of it, or ignored if no namespace has that name', async ({ world }) => {
    const ann = await world.user()
    const [name, suffixed] = [unique('v1.2-plain'), `${unique('data')}.json`]
    const ids = new Map<string, number>()
    for (const path of [name, suffixed]) {
      const made = await world.root.post('/groups', { name: path, path })
      ids.set(path, made.json.id)
      await world.root.post(`/groups/${made.json.id}/members`, { user_id: ann.id, access_level: 10 })
    }
    const found = async (path: string) => (await ann.get(`/namespaces/${path}`)).json.id
    expect(await found(name)).toBe(ids.get(name))
    expect(await found(`${name}.json`)).toBe(ids.get(name))
    expect(await found(suffixed)).toBe(ids.get(suffixed))
    expect(await found(`${ids.get(name)}.json`)).toBe(ids.get(name))
    expect((await ann.get(`/namespaces/${ann.username}.json`)).json).toMatchObject({ kind: 'user' })
    for (const path of [`${suffixed}.json`, `${name}.json.json`, 'root.json', '.json'])
      expect(await ann.get(`/namespaces/${path}`), path).toMatchObject({
        status: 404,
        json: { message: '404 Namespace Not Found' },
      })
  })

  test("404 for other users' namespaces, groups without membership, and missing ones", async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const group = await world.group({ visibility: 'public' })
    for (const name of [bob.username, group.path, '0', '99999999999', '99999999999999999999', 'no%2Fsuch'])
      expect(await ann.get(`/namespaces/${name}`)).toMatchObject({
        status: 404,
        json: { message: '404 Namespace Not Found' },
      })
    expect((await world.root.get(`/namespaces/${bob.username}`)).status).toBe(200)
  })
})
