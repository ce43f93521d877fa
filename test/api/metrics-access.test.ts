import pg from 'pg'
import { describe, expect, inject } from 'vitest'
import { test, World } from '../world.ts'

/** Headers of a request that a proxy on this machine forwards. */
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

describe('GET /-/metrics', () => {
  test('GET /-/metrics is 200 for local clients and administrators, 404 for others', async ({ world }) => {
    const ann = await world.user()
    const reader = await world.as(world.root, ['read_user'])
    const far = from('203.0.113.9')
    for (const [who, sent, status] of [
      [world.anonymous, undefined, 200],
      [world.anonymous, far, 404],
      // A client behind a proxy that trusts the header the client sent.
      [world.anonymous, from('127.0.0.1'), 404],
      [world.anonymous, { headers: { forwarded: 'for=127.0.0.1' } }, 404],
      [world.root, far, 200],
      [reader, far, 404],
      [ann, far, 404],
      [world.anonymous, { headers: { ...far.headers, authorization: 'Bearer nonsense' } }, 404],
      [world.anonymous, { headers: { ...far.headers, authorization: `Bearer ${world.root.token}` } }, 200],
    ] as const) {
      const answer = await who.get('//-/metrics', sent)
      expect(answer.status, `${who.username} ${JSON.stringify(sent)}`).toBe(status)
      if (status === 200) expect(answer.text).toContain('stithy_http_requests_total')
      else expect(answer.json).toEqual({ error: '404 Not Found' })
    }
  })

  test('GET /-/metrics works for local clients while the database is unavailable', async () => {
    await using world = await World.start()
    expect((await world.anonymous.get('//-/metrics')).status).toBe(200)
    const admin = new pg.Client({ connectionString: inject('postgres').adminUrl })
    await admin.connect()
    await admin.query(`drop database ${new URL(world.databaseUrl).pathname.slice(1)} with (force)`)
    await admin.end()
    // A process caches settings and tokens briefly.
    await expect.poll(async () => (await world.anonymous.get('/projects')).status).toBe(503)
    await expect.poll(async () => (await world.root.get('//-/metrics', from('203.0.113.9'))).status).toBe(503)
    expect((await world.anonymous.get('//-/metrics')).status).toBe(200)
  })

  test('STITHY_METRICS_FROM limits GET /-/metrics to the configured addresses', async () => {
    await using world = await World.start({ STITHY_METRICS_FROM: '203.0.113.0/24, 2001:db8::1' })
    for (const [address, status] of [
      ['203.0.113.9', 200],
      ['2001:db8::1', 200],
      ['203.0.114.9', 404],
      ['127.0.0.1', 404],
    ] as const)
      expect((await world.anonymous.get('//-/metrics', from(address))).status, address).toBe(status)
    expect((await world.anonymous.get('//-/metrics')).status).toBe(404)
  })
})
