import { describe, expect } from 'vitest'
import { test, unique, type World } from '../world.ts'

const form = (fields: Record<string, string>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

function multipart(fields: Record<string, string>) {
  const boundary = 'a-boundary'
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${parts.join('')}--${boundary}--\r\n`,
  }
}

describe('D1-PARAM-ENCODINGS', () => {
  test.for(['json', 'form', 'multipart', 'query'] as const)(
    'POST, PUT and DELETE accept parameters as %s',
    async (encoding, { world }) => {
      const ann = await world.user()
      const send = (method: string, path: string, fields: Record<string, string>) =>
        encoding === 'query'
          ? ann.send(method, `${path}?${new URLSearchParams(fields)}`)
          : ann.send(
              method,
              path,
              encoding === 'json' ? { json: fields } : encoding === 'form' ? form(fields) : multipart(fields),
            )
      const name = unique('encoded')
      const made = await send('POST', '/projects', {
        name,
        description: 'Größe & mehr',
        visibility: 'public',
        lfs_enabled: 'f',
      })
      expect(made).toMatchObject({
        status: 201,
        json: { name, description: 'Größe & mehr', visibility: 'public', lfs_enabled: false },
      })
      const changed = await send('PUT', `/projects/${made.json.id}`, { description: 'x', build_timeout: '700' })
      expect(changed).toMatchObject({ status: 200, json: { description: 'x', build_timeout: 700 } })
      expect(await send('DELETE', `/projects/${made.json.id}`, { sudo: 'no-such-user' })).toMatchObject({
        status: 403,
      })
      expect(await send('DELETE', `/projects/${made.json.id}`, { unknown: 'x' })).toMatchObject({ status: 202 })
    },
  )

  test('body parameters override query parameters, and path parameters override both', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('precedence') })).json
    const got = await ann.send('PUT', `/projects/${id}?description=query&path=${unique('q')}`, {
      json: { description: 'body', id: 1 },
    })
    expect(got).toMatchObject({ status: 200, json: { id, description: 'body', path: expect.stringMatching(/^q-/) } })
    expect(await ann.get(`/projects/${id}?id=1`)).toMatchObject({ status: 200, json: { id } })
  })

  test('GET accepts parameters in a body', async ({ world }) => {
    expect(await world.root.send('GET', '/projects', { json: { per_page: 1 } })).toMatchObject({
      status: 200,
      headers: { 'x-per-page': '1' },
    })
  })

  test('undeclared parameters are ignored', async ({ world }) => {
    expect(await world.root.get('/version?all=true&x[]=1&y[z]=2')).toMatchObject({ status: 200 })
  })

  test.for([
    ['not JSON', 'application/json', '{"name":'],
    ['JSON that is a list', 'application/json', '[]'],
    ['JSON that is text', 'application/json', '"x"'],
  ] as const)('400 when the body is %s', async ([, type, body], { world }) => {
    expect(await world.root.send('POST', '/projects', { headers: { 'content-type': type }, body })).toMatchObject({
      status: 400,
      json: { error: 'message body does not match declared format' },
    })
  })

  test.for(['', 'null'])('a body of type JSON without an object has no parameters: "%s"', async (body, { world }) => {
    expect(
      await world.root.send('POST', '/projects', { headers: { 'content-type': 'application/json' }, body }),
    ).toMatchObject({
      status: 400,
      json: { error: 'name, path are missing, at least one parameter must be provided' },
    })
  })

  test.for(['text/xml', ';;;', 'nonsense'])('415 for a body of type %s', async (type, { world }) => {
    const got = await world.root.send('POST', '/projects', { headers: { 'content-type': type }, body: '<x/>' })
    expect(got).toMatchObject({ status: 415, json: { error: expect.any(String) } })
  })

  test('a body without a content type is parsed as a form', async ({ world }) => {
    const name = unique('untyped')
    expect(await world.root.send('POST', '/projects', { body: `name=${name}` })).toMatchObject({
      status: 201,
      json: { name },
    })
  })

  test('413 when the body exceeds the limit', async ({ world }) => {
    const got = await world.root.send('POST', '/projects', { json: { name: 'x'.repeat(9 * 1024 * 1024) } })
    expect(got).toMatchObject({ status: 413, json: { message: '413 Request Entity Too Large' } })
  })

  test.for([
    ['POST', '/markdown', 'file'],
    ['PUT', '/user/avatar', 'avatar'],
  ])('413 for a file of 9 MiB in %s %s', async ([method, path, field], { world }) => {
    const body = new FormData()
    body.set('text', 'a')
    body.set(field!, new Blob([Buffer.alloc(9 * 1024 * 1024)]), 'a.png')
    const sent = new Response(body)
    const headers = { 'content-type': sent.headers.get('content-type')! }
    const got = await world.root.send(method!, path!, { headers, body: Buffer.from(await sent.arrayBuffer()) })
    expect(got).toMatchObject({ status: 413, json: { message: '413 Request Entity Too Large' } })
  })
})

describe('files of an upload', () => {
  const mebibyte = 1024 * 1024
  const uploads = async (world: World, ...files: [field: string, mebibytes: number][]) => {
    const { id } = await world.project()
    const body = new FormData()
    for (const [field, size] of files) body.append(field, new Blob([Buffer.alloc(size * mebibyte)]), 'a.bin')
    const sent = new Response(body)
    const headers = { 'content-type': sent.headers.get('content-type')! }
    return world.root.send('POST', `/projects/${id}/uploads`, { headers, body: Buffer.from(await sent.arrayBuffer()) })
  }

  test('one file may be larger than 8 MiB', async ({ world }) => {
    expect((await uploads(world, ['file', 9])).status).toBe(201)
  })

  test('413 for files in the same field that are too large together, and for a large one in another field', async ({
    world,
  }) => {
    expect((await uploads(world, ['file', 60], ['file', 60])).status).toBe(413)
    expect((await uploads(world, ['file', 1], ['other', 9])).status).toBe(413)
  })
})

describe('D1-ARRAY-HASH-NAMES', () => {
  test.for([
    ['name[]', form({}), 'scopes[]=api&scopes[]=read_user'],
    ['name[0]', form({}), 'scopes[0]=api&scopes[1]=read_user'],
    ['%5B%5D', form({}), 'scopes%5B%5D=api&scopes%5B%5D=read_user'],
  ] as const)('a list can be sent as %s', async ([, sent, body], { world }) => {
    const ann = await world.user()
    expect(
      await world.root.send('POST', `/users/${ann.id}/personal_access_tokens`, { ...sent, body: `name=x&${body}` }),
    ).toMatchObject({
      status: 201,
      json: { scopes: ['api', 'read_user'] },
    })
  })

  test('400 when a list parameter is text with commas', async ({ world }) => {
    const got = await world.root.post(`/users/${world.root.id}/personal_access_tokens`, {
      name: 'x',
      scopes: ['api'],
      project_ids: '1,2',
    })
    expect(got).toMatchObject({ status: 400, json: { error: 'project_ids is invalid' } })
  })

  test('a hash parameter is sent as name[key] and filters', async ({ world }) => {
    const got = await world.root.get('/projects?custom_attributes[color]=no-such-value')
    expect(got).toMatchObject({ status: 200, json: [] })
    expect(await world.root.get('/projects?custom_attributes=x')).toMatchObject({
      status: 400,
      json: { error: 'custom_attributes is invalid' },
    })
  })
})

describe('D1-TIMESTAMPS', () => {
  test.for([
    ['2020-01-02', 200],
    ['2020-01-02T03:04:05Z', 200],
    ['2020-01-02T03:04:05.678%2B02:00', 200],
    ['2020-01-02T03:04:05+02:00', 200],
    ['20200102T030405Z', 200],
    ['yesterday', 400],
    ['2020-13-01', 400],
    ['2021-02-29', 400],
  ] as const)('created_after=%s is %s', async ([text, status], { world }) => {
    const got = await world.root.get(`/users?created_after=${text}`)
    expect(got.status).toBe(status)
    if (status === 400) expect(got.json).toEqual({ error: 'created_after is invalid' })
  })
})

describe('X-HTTP-Method-Override', () => {
  const override = (verb: string, json: unknown = {}) => ({ headers: { 'x-http-method-override': verb }, json })

  test('X-HTTP-Method-Override turns a POST into PUT or DELETE', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('override') })).json
    expect(await ann.send('POST', `/projects/${id}`, override('PUT', { description: 'x' }))).toMatchObject({
      status: 200,
      json: { description: 'x' },
    })
    expect(await ann.send('POST', `/projects/${id}`, override('delete'))).toMatchObject({ status: 202 })
  })

  test('X-HTTP-Method-Override is ignored on GET, and 405 when a POST asks for GET', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('override') })).json
    expect(await ann.send('GET', `/projects/${id}`, { headers: { 'x-http-method-override': 'DELETE' } })).toMatchObject(
      { status: 200, json: { id } },
    )
    expect(await ann.send('POST', `/projects/${id}`, override('GET'))).toMatchObject({ status: 405 })
  })
})
