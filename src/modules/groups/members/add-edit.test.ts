import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeGroup } from '../../../../test/tables/groups.ts'
import { type Client, test, unique, World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const bases = ['groups', 'projects'] as const

async function holder(world: World, base: (typeof bases)[number], members: [Client, Level][] = []): Promise<string> {
  const made = base === 'groups' ? await world.group({ members }) : await world.project({ members })
  return `/${base}/${made.id}/members`
}

describe.for(bases)('members of %s', (base) => {
  test('a member who is added with an end that has passed was created now, not with the account', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base)
    const before = new Date().toISOString()
    const added = await world.root.post(members, { user_id: ann.id, access_level: 20, expires_at: day(-1) })
    expect(added).toMatchObject({ status: 201, json: { id: ann.id, access_level: 20, expires_at: day(-1) } })
    expect(added.json.created_at >= before, added.json.created_at).toBe(true)
  })

  test('D2-MEMBERS-RETURN: adding and editing return the member', async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    const members = await holder(world, base)
    const record = {
      id: ann.id,
      name: 'Ann',
      username: ann.username,
      state: 'active',
      avatar_url: expect.any(String),
      web_url: `${world.origin}/${ann.username}`,
      access_level: 20,
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
    }
    const added = await world.root.post(members, { user_id: ann.id, access_level: 20 })
    expect(added.status).toBe(201)
    expect(added.json).toEqual(record)
    const edited = await world.root.put(`${members}/${ann.id}`, { access_level: 30, expires_at: day(9) })
    expect(edited.status).toBe(200)
    expect(edited.json).toEqual({ ...record, access_level: 30, expires_at: day(9) })
    expect((await world.root.get(`${members}/${ann.id}`)).json).toEqual(edited.json)
  })

  test('D2-MEMBERS-EXPIRES: expires_at keeps the day; null and empty clear it', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base)
    const one = `${members}/${ann.id}`
    const added = await world.root.post(members, {
      user_id: ann.id,
      access_level: 20,
      expires_at: `${day(5)}T12:30:00Z`,
    })
    expect(added.json.expires_at).toBe(day(5))
    expect((await world.root.put(one, { access_level: 10 })).json.expires_at).toBe(day(5))
    expect((await world.root.put(one, { access_level: 10, expires_at: null })).json.expires_at).toBe(null)
    await world.root.put(one, { access_level: 10, expires_at: day(5) })
    expect((await world.root.put(one, { access_level: 10, expires_at: '' })).json.expires_at).toBe(null)
    expect(await world.root.put(one, { access_level: 10, expires_at: 'tomorrow' })).toMatchObject({
      status: 400,
      json: { error: 'expires_at is invalid' },
    })
  })

  test('D2-ACCESS-LEVELS D2-OWNER-GROUPS-ONLY: 400 for other access levels', async ({ world }) => {
    const members = await holder(world, base)
    const offered = base === 'groups' ? [10, 20, 30, 40, 50] : [10, 20, 30, 40]
    for (const access_level of offered) {
      const user = await world.user()
      expect((await world.root.post(members, { user_id: user.id, access_level })).json).toMatchObject({
        access_level,
      })
    }
    const ann = await world.user()
    await world.root.post(members, { user_id: ann.id, access_level: 10 })
    const bob = await world.user()
    for (const access_level of [0, 5, 15, 60, -10, ...(base === 'projects' ? [50] : [])]) {
      const refused = { status: 400, json: { message: { access_level: ['is not included in the list'] } } }
      expect(await world.root.post(members, { user_id: bob.id, access_level })).toMatchObject(refused)
      expect(await world.root.put(`${members}/${ann.id}`, { access_level })).toMatchObject(refused)
    }
  })

  test('400 without the required parameters of members, or if they are not numbers', async ({ world }) => {
    const members = await holder(world, base)
    const root = await world.root.get('/user')
    for (const [sent, error] of [
      [{}, 'user_id is missing, access_level is missing'],
      [{ user_id: 'ann', access_level: 10 }, 'user_id is invalid'],
      [{ user_id: 1, access_level: 'guest' }, 'access_level is invalid'],
    ] as const)
      expect(await world.root.post(members, sent)).toMatchObject({ status: 400, json: { error } })
    expect(await world.root.put(`${members}/${root.json.id}`, {})).toMatchObject({
      status: 400,
      json: { error: 'access_level is missing' },
    })
  })

  test('409 for adding a member again, 404 for users who do not exist', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base, [[ann, 'guest']])
    expect(await world.root.post(members, { user_id: ann.id, access_level: 30 })).toMatchObject({
      status: 409,
      json: { message: 'Member already exists' },
    })
    for (const user_id of [0, -1, 2147483647, Number.MAX_SAFE_INTEGER])
      expect(await world.root.post(members, { user_id, access_level: 30 })).toMatchObject({
        status: 404,
        json: { message: '404 User Not Found' },
      })
    const bob = await world.user()
    expect(await world.root.put(`${members}/${bob.id}`, { access_level: 30 })).toMatchObject({
      status: 404,
      json: { message: '404 Not found' },
    })
  })

  test('an expired membership gives no access and can be replaced', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base)
    const added = await world.root.post(members, { user_id: ann.id, access_level: 30, expires_at: day(0) })
    expect(added).toMatchObject({ status: 201, json: { access_level: 30, expires_at: day(0) } })
    expect((await world.root.get(`${members}/${ann.id}`)).status).toBe(404)
    expect((await world.root.put(`${members}/${ann.id}`, { access_level: 10 })).status).toBe(404)
    expect((await world.root.delete(`${members}/${ann.id}`)).status).toBe(404)
    expect((await world.root.post(members, { user_id: ann.id, access_level: 20 })).status).toBe(201)
  })

  const manager = base === 'groups' ? 'owner' : 'maintainer'
  test.for([
    { who: 'guest', status: 403 },
    { who: 'developer', status: 403 },
    { who: 'maintainer', status: base === 'groups' ? 403 : 201 },
    ...(base === 'groups' ? [{ who: 'owner', status: 201 } as const] : []),
  ] as const)(`members are added by a ${manager} or above: a $who gets $status`, async ({ who, status }, { world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const members = await holder(world, base, [[ann, who]])
    expect((await ann.post(members, { user_id: bob.id, access_level: 10 })).status).toBe(status)
    await world.root.post(members, { user_id: bob.id, access_level: 10 })
    expect((await ann.put(`${members}/${bob.id}`, { access_level: 20 })).status).toBe(status === 201 ? 200 : 403)
    expect((await ann.delete(`${members}/${bob.id}`)).status).toBe(status === 201 ? 204 : 403)
  })

  test('404 for members of a hidden project or group, 401 for anonymous callers', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base)
    const noun = base === 'groups' ? 'Group' : 'Project'
    const gone = { status: 404, json: { message: `404 ${noun} Not Found` } }
    expect(await ann.get(members)).toMatchObject(gone)
    expect(await ann.post(members, { user_id: ann.id, access_level: 30 })).toMatchObject(gone)
    expect(await ann.delete(`${members}/${ann.id}`)).toMatchObject(gone)
    for (const [verb, body] of [
      ['GET', undefined],
      ['POST', { user_id: 1, access_level: 10 }],
    ] as const)
      expect(await world.anonymous.send(verb, members, { json: body })).toMatchObject({
        status: 401,
        json: { message: '401 Unauthorized' },
      })
  })

  test('changes of members emit events', async ({ world }) => {
    const ann = await world.user()
    const members = await holder(world, base)
    await world.root.post(members, { user_id: ann.id, access_level: 20 })
    await world.root.put(`${members}/${ann.id}`, { access_level: 30 })
    await world.root.put(`${members}/${ann.id}`, { access_level: 30, expires_at: '2099-01-31' })
    await world.root.delete(`${members}/${ann.id}`)
    const events = await eventsOf(
      world,
      { kind: 'member%', payload: { user_id: String(ann.id) } },
      'kind',
      'actor_id',
      'payload',
    )
    expect(events).toEqual([
      { kind: 'member_added', actor_id: 1, payload: { user_id: ann.id, access_level: 20, expires_at: null } },
      { kind: 'member_updated', actor_id: 1, payload: { user_id: ann.id, access_level: 30, expires_at: null } },
      {
        kind: 'member_updated',
        actor_id: 1,
        payload: { user_id: ann.id, access_level: 30, expires_at: '2099-01-31' },
      },
      { kind: 'member_removed', actor_id: 1, payload: { user_id: ann.id } },
    ])
  })
})

describe('inherited access levels', () => {
  test('400 for a member with a lower level than the inherited one', async ({ world }) => {
    const ann = await world.user()
    const name = unique('Top')
    const top = await world.group({ name, members: [[ann, 'developer']] })
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const text = `should be greater than or equal to Developer inherited membership from group ${name}`
    for (const members of [`/projects/${project.id}/members`, `/groups/${inner.id}/members`]) {
      const refused = { status: 400, json: { message: { access_level: [text] } } }
      expect(await world.root.post(members, { user_id: ann.id, access_level: 20 })).toMatchObject(refused)
      expect((await world.root.post(members, { user_id: ann.id, access_level: 30 })).status).toBe(201)
      expect(await world.root.put(`${members}/${ann.id}`, { access_level: 20 })).toMatchObject(refused)
      expect((await world.root.put(`${members}/${ann.id}`, { access_level: 40 })).status).toBe(200)
    }
  })
})

describe('membership_lock', () => {
  test('membership_lock prevents new members in projects of the group, not in the group', async ({ world }) => {
    const owner = await world.user()
    const ann = await world.user()
    const bob = await world.user()
    const group = await world.group({}, owner)
    const project = await world.project({ group, members: [[bob, 'guest']] })
    await owner.put(`/groups/${group.id}`, { membership_lock: true })

    expect(await owner.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })).toMatchObject({
      status: 405,
      json: { message: '405 Method Not Allowed' },
    })
    expect((await owner.put(`/projects/${project.id}/members/${bob.id}`, { access_level: 20 })).status).toBe(200)
    expect((await owner.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 30 })).status).toBe(201)
    expect((await owner.delete(`/groups/${group.id}/members/${ann.id}`)).status).toBe(204)
  })

  test('D1-TIER-OFFER: projects get new members on a plan that cannot remove the lock', async () => {
    await using world = await World.start({ STITHY_PLAN: 'free' })
    const group = await world.group()
    const { id } = await world.project({ group })
    // The state from another plan.
    await changeGroup(world, group.id, { membership_lock: true })
    const { status, json } = await world.root.put(`/groups/${group.id}`, { name: group.path, membership_lock: false })
    expect(status).toBe(200)
    expect(json).not.toHaveProperty('membership_lock')
    const added = { user_id: (await world.user()).id, access_level: 30 }
    expect(await world.root.post(`/projects/${id}/members`, added)).toMatchObject({ status: 201 })
    const invited = { email: `${unique('invited')}@example.com`, access_level: 30 }
    expect(await world.root.post(`/projects/${id}/invitations`, invited)).toMatchObject({
      status: 201,
      json: { status: 'success' },
    })
  })
})
