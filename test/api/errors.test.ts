import { describe, expect } from 'vitest'
import { type Client, test, unique } from '../world.ts'

const project = async (owner: Client, more: object = {}) =>
  (await owner.post('/projects', { name: unique('project'), ...more })).json

describe('error responses', () => {
  test.for([
    [
      'a parameter is missing',
      'POST',
      '/users',
      { name: 'x' },
      400,
      {
        error:
          'email is missing, username is missing, password, reset_password, force_random_password are missing, at least one parameter must be provided',
      },
    ],
    ['a parameter is of another type', 'GET', '/users?active=perhaps', undefined, 400, { error: 'active is invalid' }],
    [
      'a parameter is not in the enumeration',
      'GET',
      '/projects?sort=up',
      undefined,
      400,
      { error: 'sort does not have a valid value' },
    ],
    [
      'parameters are required together',
      'GET',
      '/users?provider=x',
      undefined,
      400,
      { error: 'extern_uid, provider provide all or none of parameters' },
    ],
    [
      'the record is invalid',
      'POST',
      '/projects',
      { name: '!', path: '-' },
      400,
      { message: { path: expect.any(Array) } },
    ],
    ['no project has the id', 'GET', '/projects/99999999', undefined, 404, { message: '404 Project Not Found' }],
    ['no user has the id', 'GET', '/users/99999999', undefined, 404, { message: '404 User Not Found' }],
    ['a token is missing', 'GET', '/personal_access_tokens/99999999', undefined, 404, { message: '404 Not found' }],
    ['the path does not exist', 'GET', '/nowhere', undefined, 404, { error: '404 Not Found' }],
    ['the path is too long', 'GET', '/projects/1/nowhere/at/all', undefined, 404, { error: '404 Not Found' }],
  ] as const)('error response when %s', async ([, method, path, json, status, body], { world }) => {
    expect(await world.root.send(method, path, json === undefined ? {} : { json })).toMatchObject({
      status,
      json: body,
      headers: { 'content-type': 'application/json' },
    })
  })

  test('every error body has exactly one of error and message', async ({ world }) => {
    for (const path of ['/nowhere', '/projects/0', '/projects?sort=up', '/projects?pagination=keyset']) {
      const { json } = await world.root.get(path)
      expect(Object.keys(json), path).toHaveLength(1)
    }
  })

  test('401 without a token when the endpoint requires an account', async ({ world }) => {
    expect(await world.anonymous.get('/user')).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    expect(await world.anonymous.post('/projects', { name: 'x' })).toMatchObject({
      status: 401,
      json: { message: '401 Unauthorized' },
    })
  })

  test('403 when the caller can see the project but not change it', async ({ world }) => {
    const ann = await world.user()
    const open = await project(ann, { visibility: 'public' })
    expect(await (await world.user()).put(`/projects/${open.id}`, { description: 'x' })).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden' },
    })
  })
})

describe('D1-PRIVATE-404 and D1-MISSING-404', () => {
  test('private and missing projects get identical responses', async ({ world }) => {
    const hidden = await project(await world.user())
    const bob = await world.user()
    const varying = /^(x-request-id|x-runtime|date)$/
    const steady = (headers: object) => Object.entries(headers).filter(([name]) => !varying.test(name))
    for (const who of [bob, world.anonymous]) {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const sent = method === 'PUT' ? { json: { description: 'x' } } : {}
        const one = await who.send(method, `/projects/${hidden.id}`, sent)
        const other = await who.send(method, '/projects/99999999', sent)
        expect({ ...one, headers: steady(one.headers) }).toEqual({ ...other, headers: steady(other.headers) })
        expect(one.status).toBe(who === world.anonymous && method !== 'GET' ? 401 : 404)
      }
    }
  })
})

describe('D1-ID-OR-PATH', () => {
  test('a project is found by id and by path, in any encoding and case', async ({ world }) => {
    const ann = await world.user()
    const mine = await project(ann)
    const path: string = mine.path_with_namespace
    const spellings = [
      String(mine.id),
      path.replace('/', '%2F'),
      path.replace('/', '%2f'),
      path.toUpperCase().replace('/', '%2F'),
      path.replaceAll('-', '%2D').replace('/', '%2F'),
    ]
    for (const spelling of spellings)
      expect(await ann.get(`/projects/${spelling}`), spelling).toMatchObject({ status: 200, json: { id: mine.id } })
  })

  test('an encoded dot in a project path is decoded', async ({ world }) => {
    const ann = await world.user()
    const name = unique('with.dot')
    const made = await ann.post('/projects', { name, path: name })
    expect(await ann.get(`/projects/${ann.username}%2F${name.replace('.', '%2E')}`)).toMatchObject({
      status: 200,
      json: { id: made.json.id },
    })
  })

  test('404 when the slash in a project path is not encoded', async ({ world }) => {
    const ann = await world.user()
    const mine = await project(ann)
    expect(await ann.get(`/projects/${mine.path_with_namespace}`)).toMatchObject({
      status: 404,
      json: { error: '404 Not Found' },
    })
  })

  test('404 for a project path without a slash', async ({ world }) => {
    expect(await world.root.get('/projects/root')).toMatchObject({
      status: 404,
      json: { message: '404 Project Not Found' },
    })
  })
})

describe('paths and methods', () => {
  test.for([
    ['PATCH', '/projects', 'OPTIONS, GET, HEAD, POST'],
    ['POST', '/version', 'OPTIONS, GET, HEAD'],
    ['DELETE', '/user', 'OPTIONS, GET, HEAD'],
    ['QUERY', '/user', 'OPTIONS, GET, HEAD'],
    ['PATCH', '/projects/1', 'OPTIONS, GET, HEAD, PUT, DELETE'],
  ] as const)('%s %s is 405 and lists the allowed methods', async ([method, path, allow], { world }) => {
    const got = await world.root.send(method, path)
    expect(got).toMatchObject({ status: 405, json: { error: '405 Not Allowed' } })
    expect(got.headers['allow']!.split(', ').sort()).toEqual(allow.split(', ').sort())
  })

  test.for(['//api/v3/projects', '//api/v3/user?private_token=x', '//api/v3/', '//api/v3'])(
    '410 for the old API path %s',
    async (path, { world }) => {
      expect(await world.root.get(path)).toMatchObject({
        status: 410,
        json: { error: 'API V3 is no longer supported. Use API V4 instead.' },
      })
    },
  )

  test('D1-PREFIX D1-VERSION: 404 for API paths without the version', async ({ world }) => {
    for (const path of ['//projects', '//api/projects', '//api/v5/projects'])
      expect((await world.root.get(path)).status, path).toBe(404)
  })

  test.for(['/projects/%', '/projects/%zz', '/projects/%E0%A4%A', '/projects/%00', '/projects/a%00%2Fb', '/users/%FF'])(
    '%s is refused with a JSON error below 500',
    async (path, { world }) => {
      const got = await world.root.get(path)
      expect(got.status).toBeGreaterThanOrEqual(400)
      expect(got.status).toBeLessThan(500)
      expect(got.headers['content-type']).toBe('application/json')
      expect(Object.keys(got.json)).toHaveLength(1)
    },
  )

  test('404 for a path of 10,000 characters', async ({ world }) => {
    expect(await world.root.get(`/projects/${'a'.repeat(10_000)}`)).toMatchObject({ status: 404 })
  })

  test('a trailing slash in a path is ignored', async ({ world }) => {
    expect((await world.root.get('/version/')).json).toEqual((await world.root.get('/version')).json)
  })
})

describe('the .json suffix', () => {
  test('a .json suffix on an API path is ignored', async ({ world }) => {
    const ann = await world.user()
    const mine = await project(ann)
    expect((await ann.get('/version.json')).json).toEqual((await ann.get('/version')).json)
    expect((await ann.get('/projects.json?owned=true')).json).toEqual((await ann.get('/projects?owned=true')).json)
    expect((await ann.get(`/projects/${mine.id}.json`)).json).toEqual((await ann.get(`/projects/${mine.id}`)).json)
    expect((await ann.get(`/users/${ann.id}.json`)).json).toEqual((await ann.get(`/users/${ann.id}`)).json)
    expect(await ann.post('/projects.json', { name: unique('suffixed') })).toMatchObject({ status: 201 })
    expect(await ann.send('PATCH', '/version.json')).toMatchObject({ status: 405 })
  })

  test('a .json suffix that is part of a project name is not removed', async ({ world }) => {
    const ann = await world.user()
    const name = `${unique('data')}.json`
    const made = await ann.post('/projects', { name, path: name })
    expect(made).toMatchObject({ status: 201 })
    expect(await ann.get(`/projects/${ann.username}%2F${name}`)).toMatchObject({
      status: 200,
      json: { id: made.json.id },
    })
    expect(await ann.get(`/projects/${ann.username}%2F${name.replace('.json', '')}`)).toMatchObject({ status: 404 })
  })

  test('a .json suffix after the path of a project or group is ignored, unless one has that name', async ({
    world,
  }) => {
    const ann = await world.user()
    const group = await world.group({}, ann)
    const [name, suffixed] = [unique('plain'), `${unique('data')}.json`]
    const mine = (await ann.post('/projects', { name, namespace_id: group.id })).json
    const other = (await ann.post('/projects', { name: suffixed, path: suffixed, namespace_id: group.id })).json
    const at = `/projects/${group.path}%2F${name}`
    expect((await ann.get(`${at}.json`)).json).toEqual((await ann.get(at)).json)
    expect((await ann.get(`/groups/${group.path}.json`)).json).toEqual((await ann.get(`/groups/${group.path}`)).json)
    expect(await ann.put(`${at}.json`, { description: 'new' })).toMatchObject({ status: 200, json: { id: mine.id } })
    expect(await ann.get(`/projects/${group.path}%2F${suffixed}`)).toMatchObject({ json: { id: other.id } })
    expect((await ann.get(`${at}.json.json`)).status).toBe(404)
    expect((await ann.get(`/projects/${group.path}%2F.json`)).status).toBe(404)
    const hidden = (await world.root.post('/projects', { name: unique('hidden') })).json
    expect((await ann.get(`/projects/${encodeURIComponent(hidden.path_with_namespace)}.json`)).status).toBe(404)
  })

  test('404 to a deletion of a project with a .json suffix that no project has', async ({ world }) => {
    const ann = await world.user()
    const mine = await project(ann)
    const at = `/projects/${encodeURIComponent(mine.path_with_namespace)}`
    expect((await ann.delete(`${at}.json`)).status).toBe(404)
    expect((await ann.get(at)).status).toBe(200)
  })

  test('404 when a path ends with .json twice', async ({ world }) => {
    expect(await world.root.get('/version.json.json')).toMatchObject({ status: 404, json: { error: '404 Not Found' } })
  })
})

describe('D1-NULL-FOR-MISSING D1-TIMESTAMPS', () => {
  test('missing values are null, times are ISO 8601 with milliseconds', async ({ world }) => {
    const { json } = await world.root.get(`/projects/${(await project(world.root)).id}`)
    expect(json).toMatchObject({ avatar_url: null, default_branch: null, readme_url: null })
    expect(json.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const token = await world.root.post(`/users/${world.root.id}/personal_access_tokens`, {
      name: 'x',
      scopes: ['api'],
      expires_at: '2099-01-02',
    })
    expect(token.json.expires_at).toBe('2099-01-02')
  })
})
