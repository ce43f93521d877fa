import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../test/world.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const make = (world: World, user: Client, more: object = {}) =>
  world.root.post(`/users/${user.id}/personal_access_tokens`, { name: 'laptop', scopes: ['api'], ...more })

const using = (world: World, token: string, path: string) =>
  world.anonymous.get(path, { headers: { 'private-token': token } })

describe('POST /users/:id/personal_access_tokens', () => {
  test('shows the token, of 20 characters, this once', async ({ world }) => {
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
  ] as const)('refuses %j', async ([body, answer], { world }) => {
    expect(await make(world, await world.user(), body)).toMatchObject({ status: 400, json: answer })
  })

  test('is for administrators', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status).toBe(403)
    expect((await world.anonymous.post(`/users/${ann.id}/personal_access_tokens`, {})).status).toBe(400)
    expect(
      (await world.anonymous.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })).status,
    ).toBe(401)
  })
})

describe('a token', () => {
  test('that expires today is expired, one that expires tomorrow is not', async ({ world }) => {
    const ann = await world.user()
    const over = await make(world, ann, { expires_at: day(0) })
    const valid = await make(world, ann, { expires_at: day(1) })
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
    // Nor does it open what is open to anyone.
    expect((await using(world, over.json.token, '/projects')).status).toBe(401)
  })

  test('that was revoked is refused at once', async ({ world }) => {
    const ann = await world.user()
    const made = await make(world, ann)
    expect((await using(world, made.json.token, '/user')).status).toBe(200)
    expect((await ann.delete(`/personal_access_tokens/${made.json.id}`)).status).toBe(204)
    await expect
      .poll(async () => (await using(world, made.json.token, '/user')).json)
      .toMatchObject({ error_description: 'Token was revoked. You have to re-authorize from the user.' })
  })

  test('of a blocked account is refused', async ({ world }) => {
    const ann = await world.user()
    await world.rows(`update users set state = 'blocked' where id = $1`, [ann.id])
    await world.rows(`select pg_notify('stithy', 'actors')`)
    await expect
      .poll(async () => await ann.get('/user'))
      .toMatchObject({ status: 403, json: { message: '403 Forbidden - Your account has been blocked.' } })
  })

  test('reaches what its scopes say and no more', async ({ world }) => {
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

describe('the tokens of a caller', () => {
  test('are his own; administrators see all and filter', async ({ world }) => {
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

  test('of others are not found', async ({ world }) => {
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

  test('self is the one that is shown', async ({ world }) => {
    const ann = await world.user()
    const own = await world.as(ann, ['read_user'])
    expect((await own.get('/personal_access_tokens/self')).json).toMatchObject({
      user_id: ann.id,
      scopes: ['read_user'],
    })
    expect((await own.delete('/personal_access_tokens/self')).status).toBe(204)
    await expect.poll(async () => (await own.get('/user')).status).toBe(401)
    expect((await ann.get('/user')).status).toBe(200)
  })
})
