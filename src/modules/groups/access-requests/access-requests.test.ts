import { describe, expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { lockAccess } from '../../namespaces/access-index/service.ts'

const bases = ['groups', 'projects'] as const
type Base = (typeof bases)[number]

/** A project or group that users may request access to. */
async function open(world: World, base: Base, more: Record<string, unknown> = {}): Promise<string> {
  const options = { visibility: 'public', request_access_enabled: true, ...more } as const
  const made = base === 'groups' ? await world.group(options) : await world.project(options)
  return `/${base}/${made.id}`
}

const ask = (who: Client, place: string) => who.post(`${place}/access_requests`)
const listed = async (world: World, place: string) =>
  (await world.root.get(`${place}/access_requests`)).json.map(({ id }: { id: number }) => id)

describe.for(bases)('requests for access to %s', (base) => {
  const manager = base === 'groups' ? 'owner' : 'maintainer'

  test('users request access and are approved as developers', async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    const place = await open(world, base)
    const asked = await ask(ann, place)
    const record = {
      id: ann.id,
      name: 'Ann',
      username: ann.username,
      state: 'active',
      avatar_url: expect.any(String),
      web_url: `${world.origin}/${ann.username}`,
      requested_at: expect.stringMatching(/Z$/),
    }
    expect(asked.status).toBe(201)
    expect(asked.json).toEqual(record)
    expect((await world.root.get(`${place}/access_requests`)).json).toEqual([record])
    expect((await world.root.get(`${place}/members/${ann.id}`)).status).toBe(404)

    const approved = await world.root.put(`${place}/access_requests/${ann.id}/approve`)
    expect(approved).toMatchObject({ status: 201, json: { id: ann.id, access_level: 30 } })
    expect((await world.root.get(`${place}/members/${ann.id}`)).json).toMatchObject({ access_level: 30 })
    expect(await listed(world, place)).toEqual([])
    expect(await world.root.put(`${place}/access_requests/${ann.id}/approve`)).toMatchObject({
      status: 404,
      json: { message: '404 Not found' },
    })
  })

  test('a requester has no access until approved', async ({ world }) => {
    const ann = await world.user()
    const place = await open(world, base)
    await ask(ann, place)
    await world.root.put(place, { visibility: 'private' })
    expect((await ann.get(place)).status).toBe(404)
    await world.root.put(`${place}/access_requests/${ann.id}/approve`, { access_level: 10 })
    expect((await ann.get(place)).status).toBe(200)
  })

  test('access requests are refused when disabled, and from members and requesters', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const closed = await open(world, base, { request_access_enabled: false })
    expect(await ask(ann, closed)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    const place = await open(world, base, { members: [[bob, 'guest']] })
    await ask(ann, place)
    const refused = { status: 400, json: { message: { user_id: ['already exists in source'] } } }
    expect(await ask(ann, place)).toMatchObject(refused)
    expect(await ask(bob, place)).toMatchObject(refused)
  })

  test('one of several concurrent access requests of a user succeeds', async ({ world }) => {
    const ann = await world.user()
    const place = await open(world, base)
    const answers = await Promise.all([1, 2, 3].map(() => ask(ann, place)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    expect(await listed(world, place)).toEqual([ann.id])
  })

  test('adding the requester as a member removes their access request', async ({ world }) => {
    const ann = await world.user()
    const place = await open(world, base)
    await ask(ann, place)
    expect(await world.root.post(`${place}/members`, { user_id: ann.id, access_level: 20 })).toMatchObject({
      status: 201,
      json: { access_level: 20 },
    })
    expect(await listed(world, place)).toEqual([])
    // A former member may request access again.
    await ann.delete(`${place}/members/${ann.id}`)
    expect((await ask(ann, place)).status).toBe(201)
  })

  test('400 when an access request is approved with an invalid access level', async ({ world }) => {
    const ann = await world.user()
    const place = await open(world, base)
    await ask(ann, place)
    expect(await world.root.put(`${place}/access_requests/${ann.id}/approve`, { access_level: 15 })).toMatchObject({
      status: 400,
      json: { message: { access_level: ['is not included in the list'] } },
    })
    expect(await listed(world, place)).toEqual([ann.id])
  })

  test('requesters withdraw and managers deny access requests', async ({ world }) => {
    const [ann, bob, meg] = [await world.user(), await world.user(), await world.user()]
    const place = await open(world, base, { members: [[meg, manager]] })
    for (const who of [ann, bob]) await ask(who, place)
    const stranger = await world.user()
    expect((await stranger.delete(`${place}/access_requests/${ann.id}`)).status).toBe(403)
    expect((await ann.delete(`${place}/access_requests/${ann.id}`)).status).toBe(204)
    expect((await meg.delete(`${place}/access_requests/${bob.id}`)).status).toBe(204)
    expect((await meg.delete(`${place}/access_requests/${bob.id}`)).status).toBe(404)
    expect(await listed(world, place)).toEqual([])
  })

  test('access requests of blocked users are not listed or approved', async ({ world }) => {
    const ann = await world.user()
    const place = await open(world, base)
    await ask(ann, place)
    await changeUser(world, ann.id, { state: 'blocked' })
    expect(await listed(world, place)).toEqual([])
    expect((await world.root.put(`${place}/access_requests/${ann.id}/approve`)).status).toBe(404)
  })

  test.for([
    { who: 'anonymous', makes: 401, lists: 401 },
    { who: 'stranger', makes: 201, lists: 403 },
    { who: 'guest', makes: 400, lists: 403 },
    { who: 'developer', makes: 400, lists: 403 },
    { who: 'maintainer', makes: 400, lists: base === 'groups' ? 403 : 200 },
  ] as const)('$who: requesting is $makes, listing and approving $lists', async ({ who, makes, lists }, { world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const place = await open(world, base, {
      members: who === 'anonymous' || who === 'stranger' ? [] : [[ann, who]],
    })
    await ask(bob, place)
    const caller = who === 'anonymous' ? world.anonymous : ann
    expect((await ask(caller, place)).status).toBe(makes)
    expect((await caller.get(`${place}/access_requests`)).status).toBe(lists)
    expect((await caller.put(`${place}/access_requests/${bob.id}/approve`)).status).toBe(lists === 200 ? 201 : lists)
  })
})

describe('an archived project', () => {
  test('403 for access requests to an archived project', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ visibility: 'public', request_access_enabled: true })
    await world.archive(project)
    expect((await ask(ann, `/projects/${project.id}`)).status).toBe(403)
  })
})

test('403 when the requester is blocked while the access request waits for a lock', async ({ world }) => {
  const ann = await world.user()
  const place = await open(world, 'projects')
  const waiting = () => waitingFor(world, 'advisory lock')
  const asked = await world.db.transaction(async (tx) => {
    await lockAccess(tx)
    const answer = ask(ann, place)
    await expect.poll(waiting).toHaveLength(1)
    await changeUser(world, ann.id, { state: 'blocked' })
    return { answer }
  })
  expect((await asked.answer).status).toBe(403)
})

describe('inherited access', () => {
  test('400 for an access request by a member of an ancestor group', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'guest']] })
    const project = await world.project({ group, request_access_enabled: true })
    expect((await ask(ann, `/projects/${project.id}`)).status).toBe(400)
  })
})
