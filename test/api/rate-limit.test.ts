import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, onTestFinished } from 'vitest'
import { test } from '../world.ts'

describe('rate limits', () => {
  test('rate limits are off by default', async ({ world }) => {
    const ann = await world.user()
    for (let i = 0; i < 20; i++) expect((await ann.get('/version')).status).toBe(200)
  })

  test('each account has its own rate limit, and a 429 is plain text', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    onTestFinished(() => world.settings({ throttle_authenticated_api_enabled: false }))
    await world.settings({
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 3,
      throttle_authenticated_api_period_in_seconds: 100_000,
    })
    for (let i = 0; i < 3; i++) expect((await ann.get('/version')).status).toBe(200)
    const limited = await ann.get('/version')
    expect(limited).toMatchObject({
      status: 429,
      text: 'Retry later\n',
      headers: { 'content-type': 'text/plain' },
    })
    // Retry-After is when the period ends.
    const retryAfter = async () => Number((await ann.get('/version')).headers['retry-after'])
    await expect.poll(retryAfter, { timeout: 10_000 }).toBeLessThan(100_000)
    expect(await retryAfter()).toBeGreaterThan(99_900)
    expect(Object.keys(limited.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([])
    expect((await ann.post('/projects', { name: 'x' })).status).toBe(429)
    expect((await bob.get('/version')).status).toBe(200)
    expect((await world.anonymous.get('/projects')).status).toBe(200)
  })

  test('a period begins with the first request in it, not at multiples of its length, which a client could straddle', async ({
    world,
  }) => {
    const ann = await world.user()
    onTestFinished(() => world.settings({ throttle_authenticated_api_enabled: false }))
    const multiple = Math.ceil(Date.now() / 1000) + 1
    await world.settings({
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 2,
      throttle_authenticated_api_period_in_seconds: multiple,
    })
    for (let i = 0; i < 2; i++) expect((await ann.get('/version')).status).toBe(200)
    await expect.poll(() => Date.now() / 1000, { timeout: 10_000 }).toBeGreaterThan(multiple)
    expect((await ann.get('/version')).status).toBe(429)
  })

  test('anonymous requests are rate limited by address', async ({ world }) => {
    const ann = await world.user()
    onTestFinished(() => world.settings({ throttle_unauthenticated_enabled: false }))
    await world.settings({
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 2,
      throttle_unauthenticated_period_in_seconds: 100_000,
    })
    for (let i = 0; i < 2; i++) expect((await world.anonymous.get('/projects')).status).toBe(200)
    expect(await world.anonymous.get('/projects')).toMatchObject({ status: 429, text: 'Retry later\n' })
    expect(await world.anonymous.head('/projects')).toMatchObject({ status: 429, text: '' })
    expect((await ann.get('/projects')).status).toBe(200)
  })

  test('requests with an unknown token are rate limited by address', async ({ world }) => {
    const guess = (token: string, sent: object = {}) =>
      world.anonymous.send('GET', '/projects', { headers: { 'private-token': token }, ...sent })
    await world.settings({
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 2,
      throttle_unauthenticated_period_in_seconds: 90_000,
    })
    expect((await guess('wrong')).status).toBe(401)
    expect((await guess('wrong-too')).status).toBe(401)
    expect(await guess('wrong-again')).toMatchObject({ status: 429, text: 'Retry later\n' })
    const json = { private_token: 'wrong' }
    expect((await world.anonymous.send('POST', '/projects', { json })).status).toBe(429)
  })

  test('protected paths are rate limited in any spelling', async ({ world }) => {
    await world.settings({
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 1,
      throttle_protected_paths_period_in_seconds: 90_000,
      protected_paths: ['/oauth/token', '/api/v4/topics'],
    })
    expect((await world.anonymous.send('POST', '//oauth/token')).status).toBe(400)
    for (const path of ['//oauth/token', '//oauth/%74oken', '//oauth/token/', '/%74opics', '/topics.json'])
      expect((await world.anonymous.send('POST', path)).status, path).toBe(429)
    expect((await world.anonymous.send('POST', '//oauth/%zz')).status).toBe(400)
  })

  test('a protected path is rate limited in a request target with scheme and host, or with a fragment', async ({
    world,
  }) => {
    await world.settings({
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 1,
      throttle_protected_paths_period_in_seconds: 80_000,
      protected_paths: ['/oauth/token'],
    })
    const { hostname, port } = new URL(world.origin)
    const ask = async (path: string) => {
      const sent = request({ hostname, port, method: 'POST', path, headers: { 'x-forwarded-for': '192.0.2.77' } })
      const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
      return answer.resume().statusCode
    }
    const statuses = []
    for (const path of [
      '/oauth/token',
      'http://ann:secret@host/oauth/token',
      'HTTPS://host/oauth/token?x=http://y',
      '/oauth/token#x',
      '/oauth/token#?x',
      'http://host/oauth/token#x',
    ])
      statuses.push(await ask(path))
    expect(statuses).toEqual([400, 429, 429, 429, 429, 429])
  })

  test('a token in the body counts against the rate limit of its account', async ({ world }) => {
    const ann = await world.user()
    onTestFinished(() => world.settings({ throttle_authenticated_api_enabled: false }))
    await world.settings({
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 2,
      throttle_authenticated_api_period_in_seconds: 100_000,
    })
    const asked = async () =>
      (await world.anonymous.send('POST', '/projects', { json: { private_token: ann.token } })).status
    expect(await asked()).toBe(400)
    expect(await asked()).toBe(400)
    expect(await asked()).toBe(429)
  })

  test('requests with an unknown token count as anonymous on every transport', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    const headers = { 'x-forwarded-for': '192.0.2.98' }
    await world.settings({
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 6,
      throttle_unauthenticated_period_in_seconds: 100_000,
    })
    const wrong = { ...headers, 'private-token': 'no-such-token' }
    const basic = { ...headers, authorization: `Basic ${Buffer.from('ann:wrong').toString('base64')}` }
    const asks = [
      () => world.anonymous.get('/projects', { headers: wrong }),
      () => world.anonymous.get(`//${project.full_path}.git/info/refs?service=git-upload-pack`, { headers: basic }),
      () => world.anonymous.send('POST', '//oauth/token', { headers }),
      () => world.anonymous.send('POST', '//-/users/password/new', { headers }),
      () => world.anonymous.get(`//${project.full_path}/uploads/${'a'.repeat(32)}/a.txt`, { headers }),
      () => world.anonymous.get('//uploads/-/system/user/avatar/1/a.png', { headers }),
    ]
    const statuses = async () => {
      const seen: number[] = []
      for (const ask of asks) seen.push((await ask()).status)
      return seen
    }
    expect(await statuses()).toEqual([401, 401, 400, 200, 404, 404])
    expect(await statuses()).toEqual(asks.map(() => 429))
  })

  test('the default protected paths are rate limited in any spelling', async ({ world }) => {
    await world.settings({
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 1,
      throttle_protected_paths_period_in_seconds: 100_000,
    })
    const headers = { 'x-forwarded-for': '192.0.2.99' }
    const ask = async (path: string) => (await world.anonymous.send('POST', path, { headers })).status
    expect(await ask('//oauth/token')).toBe(400)
    for (const path of ['//oauth/token', '//oauth/token/', '//oauth/%74oken', '//-/users/p%61ssword/new'])
      expect([path, await ask(path)]).toEqual([path, 429])
    expect(await ask('//oauth/%ff')).toBe(400)
  })
})
