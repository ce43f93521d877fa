import { describe, expect, inject } from 'vitest'
import { createApp } from '../../src/app.ts'
import { Client, freePort, test, unique } from '../world.ts'

const unauthorized = { status: 401, json: { message: '401 Unauthorized' } }

describe('D1-AUTH-TOKEN', () => {
  const places: readonly [
    where: string,
    sent: (token: string) => { path?: string; headers?: Record<string, string>; body?: string },
  ][] = [
    ['PRIVATE-TOKEN', (token) => ({ headers: { 'PRIVATE-TOKEN': token } })],
    ['Authorization: Bearer', (token) => ({ headers: { authorization: `Bearer ${token}` } })],
    ['authorization: bearer', (token) => ({ headers: { authorization: `bearer ${token}` } })],
    ['private_token in the query', (token) => ({ path: `?private_token=${token}` })],
    ['access_token in the query', (token) => ({ path: `?access_token=${token}` })],
    [
      'private_token in a form',
      (token) => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `private_token=${token}` }),
    ],
    [
      'access_token in JSON',
      (token) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ access_token: token }) }),
    ],
    [
      'private_token in JSON',
      (token) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ private_token: token }) }),
    ],
    [
      'private_token in a multipart form',
      (token) => ({
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: `--b\r\ncontent-disposition: form-data; name="private_token"\r\n\r\n${token}\r\n--b--\r\n`,
      }),
    ],
  ]

  test.for(places)('a token is accepted as %s', async ([, sent], { world }) => {
    const ann = await world.user()
    const { path = '', ...rest } = sent(ann.token!)
    expect(await world.anonymous.send('GET', `/user${path}`, rest)).toMatchObject({ status: 200, json: { id: ann.id } })
    const { path: wrong = '', ...others } = sent('no-such-token-known')
    expect(await world.anonymous.send('GET', `/user${wrong}`, others)).toMatchObject(unauthorized)
    expect(await world.anonymous.send('GET', `/projects${wrong}`, others), 'on a public endpoint').toMatchObject(
      unauthorized,
    )
  })

  test('401 for the API with Basic authentication', async ({ world }) => {
    const basic = `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`
    expect(await world.anonymous.get('/user', { headers: { authorization: basic } })).toMatchObject(unauthorized)
  })

  test('an empty token counts as no token', async ({ world }) => {
    expect(await world.anonymous.get('/projects', { headers: { 'private-token': '' } })).toMatchObject({ status: 200 })
    expect(await world.anonymous.get('/projects?private_token=')).toMatchObject({ status: 200 })
  })

  test.for(['?private_token[]=x', '?private_token[a]=x'])('401 when the query is %s', async (query, { world }) => {
    expect(await world.anonymous.get(`/user${query}`)).toMatchObject(unauthorized)
  })

  const invalid = (description: string) => ({
    status: 401,
    json: { error: 'invalid_token', error_description: description },
    headers: {
      'www-authenticate': `Bearer realm="The API", error="invalid_token", error_description="${description}"`,
    },
  })

  test('401 with a token that expires today', async ({ world }) => {
    const ann = await world.user()
    const today = new Date().toISOString().slice(0, 10)
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    const make = async (expires_at: string) =>
      (await world.root.post(`/users/${ann.id}/personal_access_tokens`, { name: 'x', scopes: ['api'], expires_at }))
        .json.token
    const at = async (token: string) => world.anonymous.get('/user', { headers: { 'private-token': token } })
    expect(await at(await make(today))).toMatchObject(
      invalid('Token is expired. You can either do re-authorization or token refresh.'),
    )
    expect(await at(await make(tomorrow))).toMatchObject({ status: 200 })
  })

  test('401 that names the revocation with a revoked token, on public endpoints too', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.delete('/personal_access_tokens/self')).toMatchObject({ status: 204, text: '' })
    const revoked = invalid('Token was revoked. You have to re-authorize from the user.')
    // The process is notified like all other processes.
    await expect.poll(async () => (await ann.get('/user')).status, { interval: 5 }).toBe(401)
    expect(await ann.get('/user')).toMatchObject(revoked)
    expect(await ann.get('/projects')).toMatchObject(revoked)
  })

  test('a token has 20 characters and is returned only on creation', async ({ world }) => {
    const made = await world.root.post(`/users/${world.root.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] })
    expect(made.json.token).toMatch(/^[A-Za-z0-9_-]{20}$/)
    expect((await world.root.get(`/personal_access_tokens/${made.json.id}`)).json).not.toHaveProperty('token')
  })

  test.for([
    ['blocked', '403 Forbidden - Your account has been blocked.'],
    [
      'deactivated',
      '403 Forbidden - Your account has been deactivated by your administrator. Please log back in to reactivate your account.',
    ],
  ] as const)('403 on every endpoint for a %s user', async ([state, message], { world }) => {
    const ann = await world.user()
    await world.db.transaction((tx) =>
      tx.run({ text: 'update users set state = $1 where id = $2', values: [state, ann.id] } as never),
    )
    // Changed in the database without notification, so the cached token remains until it expires.
    await expect.poll(async () => (await ann.get('/user')).status).toBe(403)
    for (const path of ['/user', '/projects'])
      expect(await ann.get(path)).toMatchObject({ status: 403, json: { message } })
  })
})

test('D1-AUTH-TOKEN: a revocation reaches every process by notification alone', async ({ world }) => {
  const port = await freePort()
  const config = { ...world.config, http: { ...world.config.http, port }, sshPort: 0 }
  const services = { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') }
  // The clock of this process stands still, so its cache never expires by time.
  await using other = await createApp(config, services, { tokenClock: () => 1 })
  await other.listen()
  const ann = await world.user()
  const there = new Client(`http://127.0.0.1:${port}`, { id: ann.id, username: ann.username, token: ann.token! })
  expect(await there.get('/user')).toMatchObject({ status: 200 })
  expect(await ann.delete('/personal_access_tokens/self')).toMatchObject({ status: 204 })
  await expect.poll(async () => (await there.get('/user')).status, { interval: 20 }).toBe(401)
})

describe('D1-AUTH-SCOPES', () => {
  const reads = ['api', 'read_api']
  const table: readonly [method: string, path: string, scopes: readonly string[]][] = [
    ['GET', '/projects', reads],
    ['HEAD', '/projects', reads],
    ['GET', '/namespaces', reads],
    ['GET', '/groups', reads],
    ['GET', '/version', [...reads, 'read_user']],
    ['GET', '/user', [...reads, 'read_user']],
    ['HEAD', '/user', [...reads, 'read_user']],
    ['GET', '/users', [...reads, 'read_user']],
    ['GET', '/users/1', [...reads, 'read_user']],
    ['GET', '/user/activities', [...reads, 'read_user']],
    ['GET', '/user/two_factor', [...reads, 'read_user']],
    ['GET', '/users/1/emails', [...reads, 'read_user']],
    ['GET', '/users/1/memberships', [...reads, 'read_user']],
    ['GET', '/users/1/custom_attributes', [...reads, 'read_user']],
    ['GET', '/users/1/custom_attributes/x', [...reads, 'read_user']],
    ['GET', '/users/1/impersonation_tokens', [...reads, 'read_user']],
    ['GET', '/users/1/impersonation_tokens/0', [...reads, 'read_user']],
    ['GET', '/users/1/projects', reads],
    ['GET', '/groups/0/custom_attributes', reads],
    ['GET', '/projects/1/custom_attributes', reads],
    ['POST', '/projects', ['api']],
    ['PUT', '/projects/0', ['api']],
    ['DELETE', '/projects/0', ['api']],
    ['POST', '/users', ['api']],
  ]
  const all = [
    'api',
    'read_api',
    'read_user',
    'read_repository',
    'write_repository',
    'read_registry',
    'write_registry',
    'sudo',
  ] as const

  test.for(table)('%s %s accepts only its scopes', async ([method, path, enough], { world }) => {
    for (const scope of all) {
      const who = await world.as(world.root, [scope])
      const got = await who.send(method, path)
      if (enough.includes(scope)) expect(got.status, scope).not.toBe(403)
      else {
        expect(got.status, scope).toBe(403)
        if (method !== 'HEAD')
          expect(got.json, scope).toEqual({
            error: 'insufficient_scope',
            error_description: 'The request requires higher privileges than provided by the access token.',
            scope: enough.join(' '),
          })
      }
    }
  })

  test('a token with several scopes has the access of each', async ({ world }) => {
    const who = await world.as(world.root, ['read_repository', 'read_user'])
    expect((await who.get('/user')).status).toBe(200)
    expect((await who.get('/projects')).status).toBe(403)
  })

  test.for([
    [['nonsense'], ['can only contain available scopes']],
    [[], ["can't be blank"]],
  ] as const)('400 for a token with the scopes %j', async ([scopes, messages], { world }) => {
    expect(await world.root.post('/users/1/personal_access_tokens', { name: 'x', scopes })).toMatchObject({
      status: 400,
      json: { message: { scopes: messages } },
    })
  })
})

describe('D1-AUTH-SUDO', () => {
  test('an administrator acts as a user named by id or username in any case, by parameter or header', async ({
    world,
  }) => {
    const admin = await world.as(world.root, ['api', 'sudo'])
    const ann = await world.user()
    const spellings = [String(ann.id), ann.username, ann.username.toUpperCase()]
    for (const sudo of spellings) {
      expect((await admin.get(`/user?sudo=${sudo}`)).json.id, sudo).toBe(ann.id)
      expect((await admin.get('/user', { headers: { sudo } })).json.id, sudo).toBe(ann.id)
      expect((await admin.send('GET', '/user', { json: { sudo } })).json.id, sudo).toBe(ann.id)
    }
    expect((await admin.send('GET', '/user', { json: { sudo: ann.id } })).json.id).toBe(ann.id)
  })

  test('with sudo, permissions and authorship are those of the named user', async ({ world }) => {
    const admin = await world.as(world.root, ['api', 'sudo'])
    const ann = await world.user()
    const made = await admin.post('/projects', { name: unique('sudo'), sudo: ann.id })
    expect(made).toMatchObject({ status: 201, json: { creator_id: ann.id, namespace: { path: ann.username } } })
    const hidden = await (await world.user()).post('/projects', { name: unique('sudo') })
    expect((await admin.get(`/projects/${hidden.json.id}`)).status).toBe(200)
    expect((await admin.get(`/projects/${hidden.json.id}?sudo=${ann.id}`)).status).toBe(404)
    expect(
      (
        await admin.post(`/users?sudo=${ann.id}`, {
          name: 'x',
          username: 'x',
          email: 'x@x',
          password: 'correct horse battery',
        })
      ).status,
    ).toBe(403)
  })

  test('the scope sudo suffices for a request with sudo', async ({ world }) => {
    const ann = await world.user()
    const admin = await world.as(world.root, ['sudo'])
    expect((await admin.get('/user')).status).toBe(403)
    expect((await admin.get(`/user?sudo=${ann.id}`)).json.id).toBe(ann.id)
  })

  test('401 for sudo without a token', async ({ world }) => {
    expect(await world.anonymous.get('/projects?sudo=1')).toMatchObject(unauthorized)
  })

  test('403 for sudo by a user who is not an administrator', async ({ world }) => {
    const ann = await world.user()
    for (const sudo of ['1', String(ann.id), 'no-such-user'])
      expect(await ann.get(`/user?sudo=${sudo}`)).toMatchObject({
        status: 403,
        json: { message: '403 Forbidden - Must be admin to use sudo' },
      })
  })

  test('404 for an empty sudo, as a script sends whose variable is not set: the administrator does not act instead', async ({
    world,
  }) => {
    const admin = await world.as(world.root, ['api', 'sudo'])
    const missing = { status: 404, json: { message: "404 User with ID or username '' Not Found" } }
    expect(await admin.get('/user?sudo=')).toMatchObject(missing)
    expect(await admin.get('/user', { headers: { sudo: '' } })).toMatchObject(missing)
    expect(await admin.post('/projects', { name: unique('sudo'), sudo: '' })).toMatchObject(missing)
    expect(await admin.send('GET', '/user', { json: { sudo: null } })).toMatchObject({ status: 200, json: { id: 1 } })
  })

  test('403 for sudo with a token that lacks the scope', async ({ world }) => {
    const admin = await world.as(world.root, ['api', 'read_user'])
    expect(await admin.get('/user?sudo=no-such-user')).toMatchObject({
      status: 403,
      json: { error: 'insufficient_scope', scope: 'sudo' },
    })
  })

  test.for(['no-such-user', '999999999', '99999999999999999999', '-1', '%00', "'; drop table users"])(
    '"404 for sudo with the unknown user %s"',
    async (sudo, { world }) => {
      const admin = await world.as(world.root, ['api', 'sudo'])
      const named = decodeURIComponent(sudo)
      expect(await admin.get(`/user?sudo=${encodeURIComponent(named)}`)).toMatchObject({
        status: 404,
        json: { message: `404 User with ID or username '${named}' Not Found` },
      })
    },
  )

  test('400 when sudo cannot be a name, so that no caller acts as themselves by mistake', async ({ world }) => {
    const admin = await world.as(world.root, ['api', 'sudo'])
    const refused = { status: 400, json: { error: 'sudo is invalid' } }
    for (const query of ['sudo[]=1', 'sudo[id]=1', 'sudo[]=1&sudo[]=2'])
      expect(await admin.get(`/user?${query}`), query).toMatchObject(refused)
    for (const sudo of [[1], { id: 1 }, true, false, 1.5])
      expect(await admin.send('GET', '/user', { json: { sudo } }), JSON.stringify(sudo)).toMatchObject(refused)
  })

  test('404 for sudo with a username of digits only', async ({ world }) => {
    const admin = await world.as(world.root, ['api', 'sudo'])
    const digits = `9${String(process.pid)}77`
    await world.user({ username: digits })
    expect((await admin.get(`/user?sudo=${digits}`)).status).toBe(404)
  })
})
