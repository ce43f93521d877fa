import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { ago, daysAgo } from '../../../../test/tables/statements.ts'
import { notifyOfUsers } from '../../../../test/tables/tokens.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'

type State = 'active' | 'blocked' | 'ldap_blocked' | 'deactivated' | 'banned'

const put = (world: World, who: Client, state: State) => changeUser(world, who.id, { state: state })

const stateOf = async (world: World, who: Client): Promise<State> =>
  (await world.root.get(`/users/${who.id}`)).json.state

const basic = (name: string, password: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` },
})

/** The result of each call in each state: `true` and `false` are 201, a text is the reason of a 403. */
const ldap = 'LDAP blocked users cannot be modified by the API'
const table: Record<string, Record<State, [boolean | string, State]>> = {
  block: {
    active: [true, 'blocked'],
    deactivated: [true, 'blocked'],
    blocked: [false, 'blocked'],
    banned: [false, 'banned'],
    ldap_blocked: [ldap, 'ldap_blocked'],
  },
  unblock: {
    active: [false, 'active'],
    deactivated: ['Deactivated users cannot be unblocked by the API', 'deactivated'],
    blocked: [true, 'active'],
    banned: [false, 'banned'],
    ldap_blocked: ['LDAP blocked users cannot be unblocked by the API', 'ldap_blocked'],
  },
  deactivate: {
    active: [true, 'deactivated'],
    deactivated: [true, 'deactivated'],
    blocked: ['A blocked user cannot be deactivated by the API', 'blocked'],
    banned: ['A blocked user cannot be deactivated by the API', 'banned'],
    ldap_blocked: [ldap, 'ldap_blocked'],
  },
  activate: {
    active: [true, 'active'],
    deactivated: [true, 'active'],
    blocked: ['A blocked user must be unblocked to be activated', 'blocked'],
    banned: ['A blocked user must be unblocked to be activated', 'banned'],
    ldap_blocked: [ldap, 'ldap_blocked'],
  },
  ban: {
    active: [true, 'banned'],
    deactivated: ['You cannot ban deactivated users.', 'deactivated'],
    blocked: ['You cannot ban blocked users.', 'blocked'],
    banned: ['You cannot ban banned users.', 'banned'],
    ldap_blocked: ['You cannot ban ldap_blocked users.', 'ldap_blocked'],
  },
  unban: {
    active: ['You cannot unban active users.', 'active'],
    deactivated: ['You cannot unban deactivated users.', 'deactivated'],
    blocked: ['You cannot unban blocked users.', 'blocked'],
    banned: [true, 'active'],
    ldap_blocked: ['You cannot unban ldap_blocked users.', 'ldap_blocked'],
  },
}

describe.for(Object.entries(table))('POST /users/:id/%s', ([call, rows]) => {
  test.for(Object.entries(rows))('from %s: the result as documented', async ([from, [answer, state]], { world }) => {
    const ann = await world.user()
    await put(world, ann, from as State)
    expect(await world.root.post(`/users/${ann.id}/${call}`)).toMatchObject(
      typeof answer === 'boolean'
        ? { status: 201, json: answer }
        : { status: 403, json: { message: `403 Forbidden - ${answer}` } },
    )
    expect(await stateOf(world, ann)).toBe(state)
    const events = await eventsOf(world, { kind: 'user_%ed', payload: { user_id: String(ann.id) } }, 'actor_id')
    // The user created the first event.
    expect(events.slice(1)).toEqual(from === state ? [] : [{ actor_id: 1 }])
  })

  test('the call is a 403 unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.post(`/users/${ann.id}/${call}`)).status).toBe(403)
    expect((await world.anonymous.post(`/users/${ann.id}/${call}`)).status).toBe(401)
    expect(await world.root.post(`/users/2147483647/${call}`)).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
  })
})

test.for([
  ['block', 'blocked'],
  ['ban', 'banned'],
])('403 for administrators who %s themselves', async ([call, done], { world }) => {
  const admin = await world.user({ admin: true })
  expect(await admin.post(`/users/${admin.id}/${call}`)).toMatchObject({
    status: 403,
    json: { message: `403 Forbidden - The API initiating user cannot be ${done} by the API` },
  })
})

describe('deactivation of users', () => {
  test.for([
    ['last_activity_on', '179 days', daysAgo(179), 403],
    ['last_activity_on', '180 days', daysAgo(180), 201],
    ['current_sign_in_at', '179 days', ago('179 days'), 403],
    ['current_sign_in_at', '181 days', ago('181 days'), 201],
  ] as const)('deactivating a user with %s %s ago is %4$i', async ([column, , value, status], { world }) => {
    const ann = await world.user()
    await changeUser(world, ann.id, { [column]: value })
    const answer = await world.root.post(`/users/${ann.id}/deactivate`)
    expect(answer.status).toBe(status)
    if (status === 403)
      expect(answer.json.message).toBe(
        '403 Forbidden - The user you are trying to deactivate has been active in the past 180 days and cannot be deactivated',
      )
  })

  test('signing in by password reactivates an account, a token does not', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    await world.root.post(`/users/${ann.id}/deactivate`)
    const refs = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    expect(await ann.get('/user')).toMatchObject({
      status: 403,
      json: { message: expect.stringMatching(/^403 Forbidden - Your account has been deactivated/) },
    })
    expect((await world.anonymous.get(refs, basic('x', ann.token!))).status).toBe(403)
    expect((await world.anonymous.get(refs, basic(ann.username, 'wrong'))).status).toBe(401)
    expect(await stateOf(world, ann)).toBe('deactivated')
    expect((await world.anonymous.get(refs, basic(ann.username, 'correct horse battery'))).status).toBe(200)
    expect(await stateOf(world, ann)).toBe('active')
    expect((await ann.get('/user')).status).toBe(200)
  })
})

describe('blocked accounts', () => {
  test.for(['blocked', 'banned', 'ldap_blocked'] as const)('a %s account has no access', async (state, { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    expect((await ann.get('/user')).status).toBe(200)
    await put(world, ann, state)
    await notifyOfUsers(world)
    await expect
      .poll(() => ann.get('/user'))
      .toMatchObject({ status: 403, json: { message: '403 Forbidden - Your account has been blocked.' } })
    for (const credentials of [basic('x', ann.token!), basic(ann.username, 'correct horse battery')]) {
      const refused = { status: 403, text: expect.stringContaining('Your account has been blocked.') }
      for (const service of ['git-upload-pack', 'git-receive-pack'])
        expect(
          await world.anonymous.get(`//${project.full_path}.git/info/refs?service=${service}`, credentials),
        ).toMatchObject(refused)
      expect(
        await world.anonymous.send('POST', `//${project.full_path}.git/info/lfs/objects/batch`, {
          headers: { ...credentials.headers, 'content-type': 'application/vnd.git-lfs+json' },
          body: '{}',
        }),
      ).toMatchObject(refused)
    }
    expect(await world.root.get(`/user?sudo=${ann.id}`)).toMatchObject({ status: 403 })
  })
})

test('D3-USER-STATES: blocked=true lists blocked and LDAP-blocked users, not banned ones', async ({ world }) => {
  const [ann, bob, cid] = [await world.user(), await world.user(), await world.user()]
  await put(world, ann, 'blocked')
  await put(world, bob, 'ldap_blocked')
  await put(world, cid, 'banned')
  const listed = async (filter: string) =>
    (await world.root.get(`/users?per_page=100&${filter}`)).json.map(({ id }: { id: number }) => id)
  expect(await listed('blocked=true')).toEqual(expect.arrayContaining([ann.id, bob.id]))
  expect(await listed('blocked=true')).not.toContain(cid.id)
  for (const who of [ann, bob, cid]) expect(await listed('active=true')).not.toContain(who.id)
})
