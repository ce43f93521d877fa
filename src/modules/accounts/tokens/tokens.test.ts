import { describe, expect } from 'vitest'
import { changeToken, notifyOfUsers } from '../../../../test/tables/tokens.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { usableTokens, waitForWaiting, whileLocked } from './testing.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const make = (world: World, user: Client, more: object = {}) =>
  world.root.post(`/users/${user.id}/personal_access_tokens`, { name: 'laptop', scopes: ['api'], ...more })

const using = (world: World, token: string, path: string) =>
  world.anonymous.get(path, { headers: { 'private-token': token } })

describe('POST /users/:id/personal_access_tokens', () => {
  test('a new token has 20 characters and is shown only once', async ({ world }) => {
    const ann = await world.user()
    const made = await make(world, ann, { expires_at: day(3), scopes: ['read_user', 'api'] })
    expect(made.status).toBe(201)
    expect(made.json).toEqual({
      id: expect.any(Number),
      name: 'laptop',
      revoked: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      scopes: ['read_user', 'api'],
      user_id: ann.id,
      last_used_at: null,
      active: true,
      expires_at: day(3),
      limited_to: null,
      token: expect.stringMatching(/^[\w-]{20}$/),
    })
    expect((await ann.get(`/personal_access_tokens/${made.json.id}`)).json).not.toHaveProperty('token')
    expect((await using(world, made.json.token, '/user')).json).toMatchObject({ id: ann.id })
  })

  test.for([
    [{ scopes: [] }, { message: { scopes: ["can't be blank"] } }],
    [{ scopes: ['api', 'everything'] }, { message: { scopes: ['can only contain available scopes'] } }],
    [{ scopes: ['sudo'] }, { message: { scopes: ['can only contain available scopes'] } }],
    [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
    [{ name: undefined }, { error: 'name is missing' }],
    [{ scopes: undefined }, { error: 'scopes is missing' }],
    [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  ] as const)('400 for a token with %j', async ([body, answer], { world }) => {
    expect(await make(world, await world.user(), body)).toMatchObject({ status: 400, json: answer })
  })

  test('403 for creating a token of a user unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status).toBe(403)
    expect((await world.anonymous.post(`/users/${ann.id}/personal_access_tokens`, {})).status).toBe(400)
    expect(
      (await world.anonymous.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status,
    ).toBe(401)
  })
})

describe('personal access tokens', () => {
  test('401 with a token that expires today, 200 with one that expires tomorrow', async ({ world }) => {
    const ann = await world.user()
    const over = await make(world, ann, { expires_at: day(0) })
    const valid = await make(world, ann, { expires_at: day(1) })
    expect([over.json.active, valid.json.active]).toEqual([false, true])
    const refused = await using(world, over.json.token, '/user')
    expect(refused).toMatchObject({
      status: 401,
      json: {
        error: 'invalid_token',
        error_description: 'Token is expired. You can either do re-authorization or token refresh.',
      },
    })
    expect(refused.headers['www-authenticate']).toContain('error="invalid_token"')
    expect((await using(world, valid.json.token, '/user')).status).toBe(200)
    // Not even for public data.
    expect((await using(world, over.json.token, '/projects')).status).toBe(401)
  })

  test('401 at once with a revoked token', async ({ world }) => {
    const ann = await world.user()
    const made = await make(world, ann)
    expect((await using(world, made.json.token, '/user')).status).toBe(200)
    expect((await ann.delete(`/personal_access_tokens/${made.json.id}`)).status).toBe(204)
    await expect
      .poll(async () => (await using(world, made.json.token, '/user')).json)
      .toMatchObject({ error_description: 'Token was revoked. You have to re-authorize from the user.' })
  })

  test('403 with a token of a blocked account', async ({ world }) => {
    const ann = await world.user()
    await changeUser(world, ann.id, { state: 'blocked' })
    await notifyOfUsers(world)
    await expect
      .poll(async () => await ann.get('/user'))
      .toMatchObject({ status: 403, json: { message: '403 Forbidden - Your account has been blocked.' } })
  })

  test('a token has only the access of its scopes', async ({ world }) => {
    const ann = await world.user()
    const reader = await world.as(ann, ['read_user'])
    expect((await reader.get('/user')).status).toBe(200)
    expect((await reader.get(`/users/${ann.id}`)).status).toBe(200)
    expect(await reader.get('/projects')).toMatchObject({
      status: 403,
      json: {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api read_api',
      },
    })
    const all = await world.as(ann, ['read_api'])
    expect((await all.get('/projects')).status).toBe(200)
    expect((await all.post('/projects', { name: 'x' })).json).toMatchObject({ scope: 'api' })
  })
})

describe('lists of tokens', () => {
  test('users list their own tokens; administrators list and filter all', async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const made = await make(world, ann, { name: 'special laptop' })
    await ann.delete(`/personal_access_tokens/${made.json.id}`)
    const names = async (who: Client, query: string) =>
      (await who.get(`/personal_access_tokens?${query}`)).json.map(({ name }: { name: string }) => name)

    expect(await names(ann, '')).toEqual(['test', 'special laptop'])
    expect(await names(bob, `user_id=${ann.id}`)).toEqual([])
    expect(await names(world.root, `user_id=${ann.id}`)).toEqual(['test', 'special laptop'])
    expect(await names(ann, 'state=active')).toEqual(['test'])
    expect(await names(ann, 'state=inactive')).toEqual(['special laptop'])
    expect(await names(ann, 'revoked=true')).toEqual(['special laptop'])
    expect(await names(ann, 'search=SPECIAL')).toEqual(['special laptop'])
    expect(await ann.get('/personal_access_tokens?state=odd')).toMatchObject({
      status: 400,
      json: { error: 'state does not have a valid value' },
    })
  })

  test('404 for tokens of other users', async ({ world }) => {
    const ann = await world.user()
    const bob = await world.user()
    const made = await make(world, ann)
    for (const id of [made.json.id, 0, -1, 2147483647])
      for (const verb of ['GET', 'DELETE'])
        expect(await bob.send(verb, `/personal_access_tokens/${id}`)).toMatchObject({
          status: 404,
          json: { message: '404 Not found' },
        })
    expect((await bob.get('/personal_access_tokens/one')).json).toEqual({ error: 'id is invalid' })
  })

  test('self is the token of the request', async ({ world }) => {
    const ann = await world.user()
    const own = await world.as(ann, ['read_user'])
    expect((await own.get('/personal_access_tokens/self')).json).toMatchObject({
      user_id: ann.id,
      scopes: ['read_user'],
    })
    expect((await own.delete('/personal_access_tokens/self')).status).toBe(204)
    expect((await own.get('/user')).status).toBe(401)
    expect((await ann.get('/user')).status).toBe(200)
  })
})

test('the scopes of a new token can be text with commas, as python-gitlab sends them', async ({ world }) => {
  const ann = await world.user()
  for (const path of ['personal_access_tokens', 'impersonation_tokens']) {
    const made = await world.root.post(`/users/${ann.id}/${path}`, { name: 'x', scopes: 'read_user, read_api' })
    expect(made).toMatchObject({ status: 201, json: { scopes: ['read_user', 'read_api'] } })
    for (const scopes of ['', ',', []])
      expect(await world.root.post(`/users/${ann.id}/${path}`, { name: 'x', scopes })).toMatchObject({
        status: 400,
        json: { message: { scopes: ["can't be blank"] } },
      })
  }
  const { id } = await world.project()
  const deploy = await world.root.post(`/projects/${id}/deploy_tokens`, { name: 'x', scopes: 'read_repository' })
  expect(deploy).toMatchObject({ status: 201, json: { scopes: ['read_repository'] } })
  expect(
    (await world.root.post(`/projects/${id}/deploy_tokens`, { name: 'x', scopes: 'read_repository,odd' })).json,
  ).toEqual({
    error: 'scopes does not have a valid value',
  })
})

describe('POST /personal_access_tokens/:id/rotate', () => {
  const rotate = (who: Client, id: number | 'self', more: object = {}) =>
    who.post(`/personal_access_tokens/${id}/rotate`, more)
  const answers = async (world: World, token: string) => (await using(world, token, '/user')).status

  test('rotation replaces a token, and the old one is refused in every process', async ({ world }) => {
    const ann = await world.user()
    const old = (await make(world, ann, { scopes: ['read_user'], expires_at: day(30) })).json
    expect(await answers(world, old.token)).toBe(200)
    const made = await rotate(ann, old.id)
    expect(made).toMatchObject({
      status: 200,
      json: { name: 'laptop', scopes: ['read_user'], expires_at: day(7), active: true },
    })
    expect(made.json.id).not.toBe(old.id)
    expect(await answers(world, made.json.token)).toBe(200)
    expect(await answers(world, old.token)).toBe(401)
    expect((await rotate(ann, made.json.id, { expires_at: day(2) })).json.expires_at).toBe(day(2))
  })

  test('self/rotate rotates the token of the request', async ({ world }) => {
    const ann = await world.as(await world.user())
    const made = await rotate(ann, 'self')
    expect(await answers(world, made.json.token)).toBe(200)
  })

  test('reuse of a rotated token for a rotation revokes its whole family', async ({ world }) => {
    const ann = await world.user()
    const first = await world.as(ann)
    const { token } = (await rotate(first, 'self')).json
    expect(await answers(world, first.token!)).toBe(401)
    // Other use of it is refused, without further consequence.
    expect(await answers(world, token)).toBe(200)
    expect((await rotate(first, 'self')).json).toMatchObject({ error: 'invalid_token' })
    expect(await answers(world, token)).toBe(401)
    expect(await answers(world, ann.token!)).toBe(200)
  })

  test('reuse of a rotated token during the rotation of its successor revokes the family', async ({ world }) => {
    const ann = await world.user()
    const withToken = (secret: string) =>
      world.anonymous.send('POST', '/personal_access_tokens/self/rotate', { headers: { 'private-token': secret } })
    const first = await world.as(ann)
    const before = await usableTokens(world, ann.id, 'personal')
    const second = (await rotate(first, 'self')).json
    const [next, again] = await whileLocked(world, second.token, async () => {
      const next = withToken(second.token)
      await waitForWaiting(world, 1)
      const again = withToken(first.token!)
      await waitForWaiting(world, 2)
      return [next, again]
    })
    expect([200, 400]).toContain((await next).status)
    expect((await again).status).toBe(401)
    expect(await usableTokens(world, ann.id, 'personal')).toBe(before - 1)
  })

  test('a token is rotated once, by its managers, with a later expiry date', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = (await make(world, ann)).json
    expect((await rotate(bob, id)).status).toBe(404)
    expect(await rotate(ann, id, { expires_at: day(0) })).toMatchObject({
      status: 400,
      json: { message: { expires_at: ['must be in the future'] } },
    })
    expect((await rotate(world.root, id)).status).toBe(200)
    expect(await rotate(ann, id)).toMatchObject({
      status: 400,
      json: { message: '400 Bad request - Token already revoked' },
    })
  })

  test('one of several concurrent rotations of a token succeeds', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await make(world, ann)).json
    const answered = await Promise.all(Array.from({ length: 5 }, () => rotate(ann, id)))
    expect(answered.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    const { token } = answered.find(({ status }) => status === 200)!.json
    expect(await answers(world, token)).toBe(200)
  })

  test('403 for rotating a token with a temporary one, so that nothing outlasts it', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await make(world, ann)).json
    const json = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    const session = (await world.anonymous.send('POST', '//oauth/token', { json })).json.access_token
    const impersonation = (
      await world.root.post(`/users/${ann.id}/impersonation_tokens`, { name: 'x', scopes: ['api'] })
    ).json
    for (const token of [session, impersonation.token]) {
      const headers = { 'private-token': token }
      const rotated = await world.anonymous.send('POST', `/personal_access_tokens/${id}/rotate`, { headers })
      expect(rotated).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    }
    expect((await rotate(ann, id)).status).toBe(200)
  })

  test('403 for rotating a token with wider scopes than those of the request', async ({ world }) => {
    const admin = await world.user({ admin: true })
    const strong = (await make(world, admin, { scopes: ['api', 'sudo'] })).json
    expect((await rotate(admin, strong.id)).status).toBe(403)
    expect((await rotate(await world.as(admin, ['api', 'sudo']), strong.id)).status).toBe(200)
  })
})

describe('POST /user/personal_access_tokens', () => {
  const own = (who: Client, scopes: readonly string[], more: object = {}) =>
    who.post('/user/personal_access_tokens', { name: 'mine', scopes, ...more })

  test('a user creates a token with no wider scopes than those of the request', async ({ world }) => {
    const ann = await world.user()
    const made = await own(ann, ['read_repository'], { expires_at: day(1) })
    expect(made).toMatchObject({ status: 201, json: { user_id: ann.id, scopes: ['read_repository'] } })
    const admin = await world.as(world.root, ['api', 'sudo'])
    expect(await own(admin, ['sudo'])).toMatchObject({
      status: 400,
      json: { message: { scopes: ['can only contain available scopes'] } },
    })
    expect((await own(await world.as(ann, ['read_api']), ['api'])).json).toMatchObject({ error: 'insufficient_scope' })
  })

  test('403 for creating a token with an impersonation token', async ({ world }) => {
    const ann = await world.user()
    const impersonation = (
      await world.root.post(`/users/${ann.id}/impersonation_tokens`, { name: 'x', scopes: ['api'] })
    ).json
    const headers = { 'private-token': impersonation.token }
    const json = { name: 'mine', scopes: ['api'] }
    expect((await world.anonymous.send('POST', '/user/personal_access_tokens', { headers, json })).status).toBe(403)
  })
})

test('tokens expire at the maximum lifetime of the settings', async ({ world }) => {
  const ann = await world.user()
  await world.settings({ max_personal_access_token_lifetime: 3 })
  expect((await make(world, ann)).json.expires_at).toBe(day(3))
  expect((await make(world, ann, { expires_at: day(2) })).json.expires_at).toBe(day(2))
  expect(await make(world, ann, { expires_at: day(4) })).toMatchObject({
    status: 400,
    json: { message: { expires_at: [`must be before ${day(4)}`] } },
  })
  const { id } = (await make(world, ann)).json
  expect((await ann.post(`/personal_access_tokens/${id}/rotate`)).json.expires_at).toBe(day(3))
  await world.settings({ max_personal_access_token_lifetime: 2_147_483_647 })
  expect((await make(world, ann)).json.expires_at).toBe('9999-12-31')
})

test('tokens can be filtered by creation and last use', async ({ world }) => {
  const ann = await world.user()
  const { id } = (await make(world, ann)).json
  await changeToken(world, id, { created_at: '2020-01-02', last_used_at: '2020-02-02' })
  const ids = async (query: string) =>
    (await ann.get(`/personal_access_tokens?${query}`)).json.map((each: { id: number }) => each.id)
  expect(await ids('created_before=2020-01-03')).toEqual([id])
  expect(await ids('last_used_before=2020-02-03')).toEqual([id])
  expect(await ids('created_after=2020-01-03')).not.toContain(id)
  expect(await ids('last_used_after=2020-02-03')).not.toContain(id)
  expect((await ann.get('/personal_access_tokens?created_after=then')).json).toEqual({
    error: 'created_after is invalid',
  })
})

test('the last use of a token is recorded if the recorded one is more than ten minutes ago', async ({ world }) => {
  const ann = await world.user()
  const lastUsed = async ({ id }: { id: number }) =>
    (await ann.get(`/personal_access_tokens/${id}`)).json.last_used_at as string | null
  /** A token that no process knows yet. */
  const usedAgo = async (minutes: number) => {
    const { id, token } = (await make(world, ann)).json
    await changeToken(world, id, { last_used_at: new Date(Date.now() - minutes * 60_000).toISOString() })
    return { id, token, before: await lastUsed({ id }) }
  }
  const [recent, old, never] = [await usedAgo(9), await usedAgo(11), (await make(world, ann)).json]
  for (const { token } of [recent, old, never]) await using(world, token, '/user')
  // Requests do not wait for it. That of the recent one would have been the first.
  await expect.poll(() => lastUsed(never)).not.toBeNull()
  await expect.poll(() => lastUsed(old)).not.toBe(old.before)
  expect(await lastUsed(recent)).toBe(recent.before)
})
