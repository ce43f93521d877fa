import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect } from 'vitest'
import { endpoints } from '../../src/modules/endpoints.ts'
import { test, unique, type World } from '../world.ts'
import { concretePath } from './paths.ts'

/** `transfer-encoding` describes a body, which HEAD does not have. */
const varying = /^(x-request-id|x-runtime|date|keep-alive|connection|transfer-encoding)$/
const seen = ({ text, headers }: { text: string; headers: object }) => [text, steady(headers)]
const steady = (headers: object) => Object.fromEntries(Object.entries(headers).filter(([name]) => !varying.test(name)))

describe('HEAD', () => {
  const gets = endpoints.filter(({ method }) => method === 'GET').map(({ path }) => path)
  /** Records the first use of a token, which happens beside the request and shows in later responses. */
  const useIsRecorded = (world: World): Promise<void> => {
    recorded ??= expect
      .poll(async () => (await world.root.get('/personal_access_tokens/self')).json.last_used_at)
      .not.toBeNull()
    return recorded
  }
  let recorded: Promise<void> | undefined

  test.for(gets)('HEAD %s has the status and headers of GET and no body', async (path, { world }) => {
    await useIsRecorded(world)
    const concrete = await concretePath(path, world.root, world)
    // Jobs of other tests may change lists of the whole instance, and their totals, meanwhile: then both requests are repeated.
    const get = () => world.root.get(concrete)
    let got = await get()
    let head = await world.root.head(concrete)
    for (let again = await get(); !isDeepStrictEqual(seen(again), seen(got)); again = await get()) {
      got = again
      head = await world.root.head(concrete)
    }
    expect(head.status).toBe(got.status)
    expect(head.text).toBe('')
    expect(steady(head.headers)).toEqual(steady(got.headers))
    expect(got.status).toBeLessThan(500)
  })

  test('a HEAD request that fails has no body', async ({ world }) => {
    expect(await world.anonymous.head('/user')).toMatchObject({ status: 401, text: '' })
    expect(await world.anonymous.head('/nowhere')).toMatchObject({ status: 404, text: '' })
  })
})

describe('common response headers', () => {
  test.for([
    ['a record', 'GET', '/version', 200],
    ['an error', 'GET', '/nowhere', 404],
    ['a refusal', 'GET', '/projects?sort=up', 400],
    ['a wrong method', 'PATCH', '/version', 405],
    ['a malformed path', 'GET', '/projects/%', 400],
  ] as const)('common headers of %s', async ([, method, path, status], { world }) => {
    const { headers, ...got } = await world.root.send(method, path)
    expect(got.status).toBe(status)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-frame-options': 'SAMEORIGIN',
      'x-content-type-options': 'nosniff',
      vary: expect.stringMatching(/^Origin(,|$)/),
      'x-request-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{17,}$/),
      'x-runtime': expect.stringMatching(/^\d+\.\d{6}$/),
    })
    expect(headers).not.toHaveProperty('x-powered-by')
    expect(headers).not.toHaveProperty('server')
  })

  test.for(['//-/health', '//-/liveness', '//-/readiness', '//-/metrics', '//'])(
    'the common headers are set on %s',
    async (path, { world }) => {
      await world.settings({ home_page_url: 'https://home.example' })
      expect(
        (await world.anonymous.get(path, { headers: { origin: 'https://elsewhere.example' } })).headers,
      ).toMatchObject({
        'x-frame-options': 'SAMEORIGIN',
        'x-content-type-options': 'nosniff',
        vary: expect.stringMatching(/^Origin(,|$)/),
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-runtime': expect.stringMatching(/^\d+\.\d{6}$/),
        'access-control-allow-origin': '*',
      })
    },
  )

  test.for([
    ['that is not HTTP', 'NONSENSE\r\n\r\n', 400, '400 Bad Request'],
    [
      'with endless headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      '431 Request Header Fields Too Large',
    ],
  ] as const)('a request %s gets a JSON error', async ([, sent, status, error], { world }) => {
    const socket = connect(Number(new URL(world.origin).port), '127.0.0.1').setEncoding('latin1')
    socket.write(sent)
    const [head, body] = (await socket.toArray()).join('').split('\r\n\r\n')
    expect(head).toMatch(`HTTP/1.1 ${status} `)
    expect(head).toMatch(/^content-type: application\/json$/im)
    expect(JSON.parse(body!)).toEqual({ error })
  })

  test('X-Request-Id of the client is returned when it is harmless, replaced otherwise', async ({ world }) => {
    const asked = async (id: string) =>
      (await world.root.get('/version', { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await asked('my-id.1:2_3')).toBe('my-id.1:2_3')
    for (const id of ['has space', '<script>', 'x'.repeat(256)]) expect(await asked(id)).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('ETag', () => {
  test('a GET response has a weak ETag that is stable while the response is', async ({ world }) => {
    const one = await world.root.get('/version')
    expect(one.headers).toMatchObject({
      etag: expect.stringMatching(/^W\/"[0-9a-f]{32}"$/),
      'cache-control': 'max-age=0, private, must-revalidate',
    })
    expect((await world.root.get('/version')).headers['etag']).toBe(one.headers['etag'])
  })

  test('304 without a body when If-None-Match has the current ETag', async ({ world }) => {
    const etag = (await world.root.get('/version')).headers['etag']!
    for (const header of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const got = await world.root.get('/version', { headers: { 'if-none-match': header } })
      expect(got, header).toMatchObject({ status: 304, text: '', headers: { etag } })
      expect(got.headers).not.toHaveProperty('content-type')
    }
    expect(await world.root.get('/version', { headers: { 'if-none-match': 'W/"other"' } })).toMatchObject({
      status: 200,
    })
  })

  test('the ETag changes with the response', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('etag') })).json
    const before = (await ann.get(`/projects/${id}`)).headers['etag']!
    await ann.put(`/projects/${id}`, { description: 'other' })
    expect(await ann.get(`/projects/${id}`, { headers: { 'if-none-match': before } })).toMatchObject({ status: 200 })
  })

  test('writes and errors have no ETag', async ({ world }) => {
    expect((await world.root.post('/projects', { name: unique('etag') })).headers).not.toHaveProperty('etag')
    expect((await world.root.get('/nowhere')).headers).not.toHaveProperty('etag')
  })
})

describe('CORS', () => {
  const exposed = ['Link', 'X-Total', 'X-Total-Pages', 'X-Per-Page', 'X-Page', 'X-Next-Page', 'X-Prev-Page']

  test('CORS allows any origin, without credentials', async ({ world }) => {
    const { headers } = await world.root.get('/version', { headers: { origin: 'https://elsewhere.example' } })
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    for (const name of exposed) expect(headers['access-control-expose-headers']).toContain(name)
  })

  test('"CORS allows credentials for the service\'s own origin"', async ({ world }) => {
    const { headers } = await world.root.get('/version', { headers: { origin: world.config.externalUrl } })
    expect(headers).toMatchObject({
      'access-control-allow-origin': world.config.externalUrl,
      'access-control-allow-credentials': 'true',
    })
  })

  test('errors have CORS headers, and requests without an origin get none', async ({ world }) => {
    expect(
      (await world.root.get('/nowhere', { headers: { origin: 'https://x.example' } })).headers[
        'access-control-allow-origin'
      ],
    ).toBe('*')
    expect((await world.root.get('/version')).headers).not.toHaveProperty('access-control-allow-origin')
  })

  test.for(['/projects', '/projects/1', '/nowhere'])(
    'a CORS preflight of %s needs no token and allows all methods',
    async (path, { world }) => {
      const got = await world.anonymous.send('OPTIONS', path, {
        headers: {
          origin: 'https://elsewhere.example',
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'private-token, content-type',
        },
      })
      expect(got).toMatchObject({
        status: 204,
        text: '',
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'private-token, content-type' },
      })
      for (const verb of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])
        expect(got.headers['access-control-allow-methods']).toContain(verb)
    },
  )
})

describe('If-Unmodified-Since', () => {
  const later = new Date(Date.now() + 3_600_000).toUTCString()
  const earlier = new Date(Date.now() - 3_600_000).toUTCString()

  test.for([
    ['a time before the last change', earlier, 412],
    ['a time after it', later, 202],
    ['an invalid time', 'yesterday-ish', 202],
  ] as const)('deleting with If-Unmodified-Since %s', async ([, header, status], { world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('conditional') })).json
    const got = await ann.delete(`/projects/${id}`, { headers: { 'if-unmodified-since': header } })
    expect(got.status).toBe(status)
    if (status === 412) expect(got.json).toEqual({ message: '412 Precondition Failed' })
    expect((await ann.get(`/projects/${id}`)).status).toBe(status === 412 ? 200 : 404)
  })

  test('403 before 412 when the caller may not delete the project', async ({ world }) => {
    const { id } = (await (await world.user()).post('/projects', { name: unique('conditional'), visibility: 'public' }))
      .json
    expect(
      await (await world.user()).delete(`/projects/${id}`, { headers: { 'if-unmodified-since': earlier } }),
    ).toMatchObject({ status: 403 })
  })
})
