import { expect, inject } from 'vitest'
import { type App, createApp } from '../../src/app.ts'
import { beginRequest } from '../begun-request.ts'
import { Client, freePort, test, type World } from '../world.ts'

const password = 'correct horse battery'

/** Tokens of every kind, with each call that revokes one. */
const ends: readonly [
  string,
  (world: World, ann: Client) => Promise<{ token: string; end: () => Promise<unknown> }>,
][] = [
  [
    'revoking a personal token',
    async (world, ann) => {
      const { id, token } = (await world.root.post(`/users/${ann.id}/personal_access_tokens`, named)).json
      return { token, end: () => ann.delete(`/personal_access_tokens/${id}`) }
    },
  ],
  [
    'rotating a personal token',
    async (world, ann) => {
      const { id, token } = (await world.root.post(`/users/${ann.id}/personal_access_tokens`, named)).json
      return { token, end: () => ann.post(`/personal_access_tokens/${id}/rotate`) }
    },
  ],
  [
    'revoking an impersonation token',
    async (world, ann) => {
      const path = `/users/${ann.id}/impersonation_tokens`
      const { id, token } = (await world.root.post(path, named)).json
      return { token, end: () => world.root.delete(`${path}/${id}`) }
    },
  ],
  [
    'revoking a project token',
    async (world) => {
      const path = `/projects/${(await world.project()).id}/access_tokens`
      const { id, token } = (await world.root.post(path, named)).json
      return { token, end: () => world.root.delete(`${path}/${id}`) }
    },
  ],
  [
    'revoking an OAuth token',
    async (world, ann) => {
      const { access_token: token } = await signedIn(world, ann)
      return { token, end: () => world.anonymous.post('//oauth/revoke', { token }) }
    },
  ],
  [
    'refreshing an OAuth token',
    async (world, ann) => {
      const { access_token: token, refresh_token } = await signedIn(world, ann)
      const refresh = { grant_type: 'refresh_token', refresh_token }
      return { token, end: () => world.anonymous.post('//oauth/token', refresh) }
    },
  ],
]

const named = { name: 'x', scopes: ['api'] }

const signedIn = async (world: World, { username }: Client) =>
  (await world.anonymous.post('//oauth/token', { grant_type: 'password', username, password })).json

test.for(ends)('%s reaches every process by notification alone', async ([, make], { world }) => {
  const port = await freePort()
  const config = { ...world.config, http: { ...world.config.http, port }, sshPort: 0 }
  const services = { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') }
  // The clock of this process stands still, so its cache never expires by time.
  await using other: App = await createApp(config, services, { tokenClock: () => 1 })
  await other.listen()
  const ann = await world.user()
  const { token, end } = await make(world, ann)
  const there = new Client(`http://127.0.0.1:${port}`, { id: 0, username: '', token })
  expect((await there.get('/user')).status).toBe(200)
  await end()
  await expect.poll(async () => (await there.get('/user')).status, { interval: 20 }).toBe(401)
})

test.for<[string, number, (world: World, ann: Client) => Promise<unknown>]>([
  ['the account is blocked', 403, (world, ann) => world.root.post(`/users/${ann.id}/block`)],
  ['the token is revoked', 401, (_world, ann) => ann.delete('/personal_access_tokens/self')],
  ['the administrator becomes a user', 403, (world, ann) => world.root.put(`/users/${ann.id}`, { admin: false })],
])('a request that has begun is refused once %s', async ([, status, end], { world }) => {
  const ann = await world.user({ admin: true })
  const late = beginRequest(`${world.origin}/api/v4/users/${ann.id}`, {
    method: 'PUT',
    headers: { 'private-token': ann.token, 'content-type': 'application/json' },
  })
  await late.begun
  expect(await end(world, ann)).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) })
  expect(await late.complete(JSON.stringify({ admin: true, bio: 'Still here' }))).toMatchObject({ status })
  expect((await world.root.get(`/users/${ann.id}`)).json.bio).not.toBe('Still here')
})

test('a query that has begun is refused once the account is blocked', async ({ world }) => {
  const ann = await world.user()
  const late = beginRequest(`${world.origin}/api/graphql`, {
    headers: { 'private-token': ann.token, 'content-type': 'application/json' },
  })
  await late.begun
  expect(await world.root.post(`/users/${ann.id}/block`)).toMatchObject({ status: 201 })
  expect(await late.complete(JSON.stringify({ query: '{ currentUser { id } }' }))).toMatchObject({ status: 403 })
})

test('a request that takes long is answered while its account and token are valid', async ({ world }) => {
  const ann = await world.user()
  const late = beginRequest(`${world.origin}/api/v4/projects`, {
    headers: { 'private-token': ann.token, 'content-type': 'application/json' },
  })
  await late.begun
  expect(await late.complete(JSON.stringify({ name: 'late' }))).toMatchObject({ status: 201 })
})
