import type { Client } from 'undici'
import { expect, test } from 'vitest'
import { toEachWorker } from '../each-worker.ts'
import { freshEnv, serve } from '../service.ts'

const rootToken = 'root-token-for-tests'

type Ask = (method: string, path: string, json?: object, token?: string) => Promise<{ status: number; json: any }>

/** Requests over one connection, and so to one worker. */
const asking =
  (client: Client): Ask =>
  async (method, path, json, token = rootToken) => {
    const answer = await client.request({
      method: method as 'GET',
      path,
      headers: { 'private-token': token, ...(json && { 'content-type': 'application/json' }) },
      body: json === undefined ? null : JSON.stringify(json),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  }

test('two worker processes agree soon after a change', async () => {
  const { launched: service, origin } = await serve({
    ...(await freshEnv()),
    STITHY_PROCESSES: '2',
    STITHY_LOG_LEVEL: 'info',
  })
  const workers = await toEachWorker(service, origin)
  expect([...workers.keys()].sort()).toEqual(service.named('stithy worker').sort())
  const [one, other] = [...workers.values()].map(asking) as [Ask, Ask]

  const ann = await one('POST', '/api/v4/users', {
    username: 'ann',
    name: 'Ann',
    email: 'ann@example.com',
    password: 'correct horse battery',
    skip_confirmation: true,
  })
  const tokens = `/api/v4/users/${ann.json.id}/personal_access_tokens`
  const newToken = async () => (await one('POST', tokens, { name: 'x', scopes: ['api'] })).json
  const [revoked, kept] = [await newToken(), await newToken()]
  const home = async (ask: Ask) => (await ask('GET', '/')).status
  const user = (token: string) => async (ask: Ask) => (await ask('GET', '/api/v4/user', undefined, token)).status
  const sets = (values: object) => (ask: Ask) => ask('PUT', '/api/v4/application/settings', values)

  const changes: readonly [(ask: Ask) => Promise<{ status: number }>, (ask: Ask) => Promise<number>, number, number][] =
    [
      [sets({ home_page_url: 'https://home.example' }), home, 404, 302],
      [sets({ home_page_url: null }), home, 302, 404],
      [(ask) => ask('DELETE', `/api/v4/personal_access_tokens/${revoked.id}`), user(revoked.token), 200, 401],
      [(ask) => ask('POST', `/api/v4/users/${ann.json.id}/block`), user(kept.token), 200, 403],
      [(ask) => ask('POST', `/api/v4/users/${ann.json.id}/unblock`), user(kept.token), 403, 200],
    ]
  for (const [index, [change, look, before, after]] of changes.entries()) {
    // The workers take turns in making the change; the other has just read the state, so it has cached the old one.
    const [maker, onlooker] = index % 2 === 0 ? [one, other] : [other, one]
    for (const ask of [maker, onlooker]) expect(await look(ask)).toBe(before)
    expect((await change(maker)).status).toBeLessThan(300)
    for (const ask of [maker, onlooker]) await expect.poll(() => look(ask), { interval: 10 }).toBe(after)
  }
})
