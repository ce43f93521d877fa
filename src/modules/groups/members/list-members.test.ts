import { describe, expect } from 'vitest'
import { addMember, changeMember } from '../../../../test/tables/access.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const listed = async (who: Client, path: string): Promise<[number, number][]> => {
  const found = await who.get(path)
  expect(found.status, found.text).toBe(200)
  return found.json.map(({ id, access_level }: { id: number; access_level: number }) => [id, access_level])
}

/** A project in a group in another group, with a member each. */
async function nested(world: World) {
  const [outer, inner, direct] = [await world.user(), await world.user(), await world.user()]
  const top = await world.group({ members: [[outer, 'guest']] })
  const sub = await world.group({ parent: top, members: [[inner, 'reporter']] })
  const project = await world.project({ group: sub, members: [[direct, 'developer']] })
  return { outer, inner, direct, top, sub, project }
}

describe('lists of members', () => {
  test('D2-MEMBERS-DIRECT: members lists direct members, in order of addition', async ({ world }) => {
    const { outer, inner, direct, top, sub, project } = await nested(world)
    expect(await listed(world.root, `/groups/${top.id}/members`)).toEqual([
      [1, 50],
      [outer.id, 10],
    ])
    expect(await listed(world.root, `/groups/${sub.id}/members`)).toEqual([
      [1, 50],
      [inner.id, 20],
    ])
    expect(await listed(world.root, `/projects/${project.id}/members`)).toEqual([
      [1, 40],
      [direct.id, 30],
    ])
    expect((await world.root.get(`/projects/${project.id}/members/${inner.id}`)).status).toBe(404)
    expect((await world.root.get(`/projects/${project.id}/members/${direct.id}`)).status).toBe(200)
    expect((await world.root.get(`/groups/${sub.id}/members/${outer.id}`)).status).toBe(404)
  })

  test('D2-MEMBERS-ALL-ONCE: members/all includes those of ancestors, each once', async ({ world }) => {
    const { outer, inner, direct, sub, project } = await nested(world)
    expect(await listed(world.root, `/groups/${sub.id}/members/all`)).toEqual([
      [1, 50],
      [outer.id, 10],
      [inner.id, 20],
    ])
    expect(await listed(world.root, `/projects/${project.id}/members/all`)).toEqual([
      [1, 40],
      [outer.id, 10],
      [inner.id, 20],
      [direct.id, 30],
    ])
  })

  test('D2-MEMBERS-ALL-LEVEL: the level is that of the project, else of the nearest group', async ({ world }) => {
    const { outer, top, sub, project } = await nested(world)
    // Bypasses the rule that levels do not decrease inward, so that nearest and highest differ.
    const add = (place: { project: number } | { group: number }, level: number) =>
      addMember(world, place, outer.id, level)
    const of = async (path: string) => (await world.root.get(`${path}/members/all/${outer.id}`)).json.access_level
    await changeMember(world, top.id, outer.id, { access_level: 40 })
    expect(await of(`/projects/${project.id}`)).toBe(40)
    await add({ group: sub.id }, 30)
    expect([await of(`/projects/${project.id}`), await of(`/groups/${sub.id}`)]).toEqual([30, 30])
    await add({ project: project.id }, 20)
    expect([await of(`/projects/${project.id}`), await of(`/groups/${sub.id}`)]).toEqual([20, 30])
    expect(await of(`/groups/${top.id}`)).toBe(40)
  })

  test('members/all includes members of invited groups at the level of the share', async ({ world }) => {
    const { outer, project } = await nested(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const partners = await world.group({
      members: [
        [ann, 'owner'],
        [bob, 'guest'],
        [outer, 'owner'],
      ],
    })
    const share = (expires_at: string | null) =>
      world.root.post(`/projects/${project.id}/share`, { group_id: partners.id, group_access: 30, expires_at })
    expect((await share(null)).status).toBe(201)
    const all = new Map(await listed(world.root, `/projects/${project.id}/members/all`))
    expect([all.get(ann.id), all.get(bob.id)]).toEqual([30, 10])
    expect(all.get(outer.id), 'a direct membership comes first').toBe(10)
    await world.root.delete(`/projects/${project.id}/share/${partners.id}`)
    await share(new Date().toISOString().slice(0, 10))
    expect(new Map(await listed(world.root, `/projects/${project.id}/members/all`)).has(ann.id)).toBe(false)
  })

  test.for(['members', 'members/all'])('D2-MEMBERS-FILTERS: query and user_ids filter %s', async (list, { world }) => {
    const word = unique('Name')
    const [ann, bob, cid] = [
      await world.user({ name: `${word} one` }),
      await world.user({ name: word }),
      await world.user(),
    ]
    const group = await world.group({
      members: [
        [ann, 'guest'],
        [bob, 'guest'],
        [cid, 'guest'],
      ],
    })
    const ids = async (query: string) =>
      (await listed(ann, `/groups/${group.id}/${list}?${query}`)).map(([id]) => id).sort((a, b) => a - b)
    expect(await ids(`query=${word.toUpperCase()}`)).toEqual([ann.id, bob.id])
    expect(await ids(`query=${word}%20one`)).toEqual([ann.id])
    expect(await ids(`query=${cid.username}@EXAMPLE.com`)).toEqual([cid.id])
    expect(await ids(`query=${cid.username}@exam`)).toEqual([])
    expect(await ids('query=')).toEqual([1, ann.id, bob.id, cid.id])
    expect(await ids(`user_ids[]=${ann.id}&user_ids[]=${cid.id}&user_ids[]=2147483647`)).toEqual([ann.id, cid.id])
    expect(await ids('user_ids[]=')).toEqual([1, ann.id, bob.id, cid.id])
    expect(await ids(`query=${word}&user_ids[]=${cid.id}`)).toEqual([])
    expect(await ann.get(`/groups/${group.id}/${list}?user_ids[]=x`)).toMatchObject({
      status: 400,
      json: { error: 'user_ids is invalid' },
    })
  })

  test('lists of members have pages', async ({ world }) => {
    const { project } = await nested(world)
    const page = await world.root.get(`/projects/${project.id}/members/all?per_page=3&page=2`)
    expect(page.json).toHaveLength(1)
    expect(page.headers).toMatchObject({ 'x-total': '4', 'x-total-pages': '2', 'x-prev-page': '1', 'x-next-page': '' })
  })

  test('lists of members omit expired memberships and include blocked users with their state', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
      ],
    })
    await world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 30, expires_at: day(1) })
    expect((await ann.get(`/groups/${group.id}`)).status).toBe(200)
    await world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 30, expires_at: day(0) })
    await changeUser(world, bob.id, { state: 'blocked' })
    for (const list of ['members', 'members/all'])
      expect((await world.root.get(`/groups/${group.id}/${list}`)).json).toMatchObject([
        { id: 1 },
        { id: bob.id, state: 'blocked' },
      ])
    expect((await ann.get(`/groups/${group.id}`)).status).toBe(404)
    expect((await world.root.get(`/groups/${group.id}/members/all/${ann.id}`)).status).toBe(404)
  })

  test.for([
    { visibility: 'public', who: 'a stranger', status: 200 },
    { visibility: 'internal', who: 'a stranger', status: 200 },
    { visibility: 'private', who: 'a stranger', status: 404 },
    { visibility: 'internal', who: 'an external user', status: 404 },
    { visibility: 'public', who: 'an external user', status: 200 },
    { visibility: 'public', who: 'an anonymous caller', status: 401 },
  ] as const)('members of a $visibility project: $who gets $status', async ({ visibility, who, status }, { world }) => {
    const caller =
      who === 'an anonymous caller' ? world.anonymous : await world.user({ external: who === 'an external user' })
    const group = await world.group({ visibility })
    const project = await world.project({ visibility, group })
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`])
      for (const list of ['members', 'members/all', 'members/1', 'members/all/1'])
        expect((await caller.get(`${path}/${list}`)).status, list).toBe(status)
  })
})
