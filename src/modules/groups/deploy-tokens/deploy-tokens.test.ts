import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { deployTokenRow } from '../../../../test/tables/tokens.ts'
import { test, type World } from '../../../../test/world.ts'

const bases = ['groups', 'projects'] as const

async function placeIn(world: World, base: (typeof bases)[number], more = {}): Promise<string> {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return `/${base}/${made.id}/deploy_tokens`
}

const attributes = { name: 'ci', scopes: ['read_repository'] }

describe.for(bases)('deploy tokens of %s', (base) => {
  test('the total of active deploy tokens decreases when one expires, although nothing is written', async ({
    world,
  }) => {
    const tokens = await placeIn(world, base)
    const soon = new Date(Date.now() + 1500).toISOString()
    for (const more of [{}, {}, { expires_at: soon }]) await world.root.post(tokens, { ...attributes, ...more })
    const total = async (query: string) => (await world.root.get(`${tokens}?per_page=1&${query}`)).headers['x-total']
    expect(await total('')).toBe('3')
    await expect.poll(() => total('active=true')).toBe('2')
    expect(await total('')).toBe('3')
  })

  test('deploy tokens are shown once, listed, read and revoked', async ({ world }) => {
    const tokens = await placeIn(world, base)
    const made = await world.root.post(tokens, { ...attributes, expires_at: '2100-01-02T03:04:05Z' })
    const { token, ...record } = made.json
    expect(made.status).toBe(201)
    expect(token).toMatch(/^[\w-]{20}$/)
    expect(record).toEqual({
      id: expect.any(Number),
      name: 'ci',
      username: `gitlab+deploy-token-${record.id}`,
      expires_at: '2100-01-02T03:04:05.000Z',
      scopes: ['read_repository'],
      revoked: false,
      expired: false,
    })
    const one = `${tokens}/${record.id}`
    expect((await world.root.get(one)).json).toEqual(record)
    expect((await world.root.get(tokens)).json).toEqual([record])
    expect((await world.root.delete(one)).status).toBe(204)
    expect(await world.root.get(one)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await world.root.get(tokens)).json).toEqual([])
    expect(await world.root.delete(one)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await world.root.get(`${tokens}?active=true`)).json).toEqual([])
    expect((await world.root.get(`${tokens}?active=false`)).json).toEqual([{ ...record, revoked: true }])
  })

  test('deploy tokens are stored as digests', async ({ world }) => {
    const { id, token } = (await world.root.post(await placeIn(world, base), attributes)).json
    const [row] = await deployTokenRow(world, id)
    expect(row.digest).toHaveLength(32)
    expect(JSON.stringify(row)).not.toContain(token)
    const events = await eventsOf(world, { payload: { deploy_token_id: String(id) } }, 'payload')
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain(token)
  })

  test('a deploy token may have a username and needs valid scopes', async ({ world }) => {
    const tokens = await placeIn(world, base)
    const send = (body: object) => world.root.post(tokens, { ...attributes, ...body })
    expect((await send({ username: 'robot.1' })).json).toMatchObject({ username: 'robot.1' })
    expect((await send({ scopes: ['read_registry', 'write_registry', 'read_registry'] })).json.scopes).toEqual([
      'read_registry',
      'write_registry',
    ])
    for (const [body, json] of [
      [{ name: undefined, scopes: undefined }, { error: 'name is missing, scopes is missing' }],
      [{ scopes: ['api'] }, { error: expect.stringContaining('does not have a valid value') }],
      [{ scopes: [] }, { message: { scopes: ["can't be blank"] } }],
      [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
      [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
      [{ username: 'a b' }, { message: { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] } }],
    ] as const)
      expect(await send(body)).toMatchObject({ status: 400, json })
  })

  test('an expired deploy token is not active', async ({ world }) => {
    const tokens = await placeIn(world, base)
    const made = await world.root.post(tokens, { ...attributes, expires_at: '2020-01-01' })
    expect(made.json).toMatchObject({ expired: true, revoked: false })
    expect((await world.root.get(`${tokens}?active=true`)).json).toEqual([])
  })

  test('administrators list all deploy tokens except revoked ones', async ({ world }) => {
    const { id } = (await world.root.post(await placeIn(world, base), attributes)).json
    const all = await world.root.get(`/deploy_tokens?active=true&pagination=keyset&id_after=${id - 1}`)
    expect(all.json[0]).toMatchObject({ id })
    const revoked = await world.project()
    const gone = (await world.root.post(`/projects/${revoked.id}/deploy_tokens`, attributes)).json
    await world.root.delete(`/projects/${revoked.id}/deploy_tokens/${gone.id}`)
    const left = await world.root.get(`/deploy_tokens?pagination=keyset&id_after=${id - 1}`)
    expect(left.json.map((token: { id: number }) => token.id)).not.toContain(gone.id)
    expect((await (await world.user()).get('/deploy_tokens')).status).toBe(403)
    expect((await world.anonymous.get('/deploy_tokens')).status).toBe(401)
  })

  test('404 for deploy tokens of another project or group', async ({ world }) => {
    const { id } = (await world.root.post(await placeIn(world, base), attributes)).json
    const elsewhere = await placeIn(world, base)
    expect((await world.root.get(`${elsewhere}/${id}`)).status).toBe(404)
    expect((await world.root.delete(`${elsewhere}/${id}`)).status).toBe(404)
  })

  test.for([
    { who: 'anonymous', reads: 401, writes: 401 },
    { who: 'stranger', reads: 403, writes: 403 },
    { who: 'developer', reads: 403, writes: 403 },
    { who: 'maintainer', reads: 200, writes: base === 'groups' ? 403 : 201 },
  ] as const)('$who: listing deploy tokens is $reads, creating $writes', async ({ who, reads, writes }, { world }) => {
    const ann = await world.user()
    const members = who === 'anonymous' || who === 'stranger' ? [] : [[ann, who]]
    const tokens = await placeIn(world, base, { visibility: 'public', members })
    const { id } = (await world.root.post(tokens, attributes)).json
    const caller = who === 'anonymous' ? world.anonymous : ann
    expect((await caller.get(tokens)).status).toBe(reads)
    expect((await caller.get(`${tokens}/${id}`)).status).toBe(reads)
    expect((await caller.post(tokens, attributes)).status).toBe(writes)
    expect((await caller.delete(`${tokens}/${id}`)).status).toBe(writes === 201 ? 204 : writes)
  })

  test('401 for the API with a deploy token', async ({ world }) => {
    const { token } = (await world.root.post(await placeIn(world, base), attributes)).json
    for (const headers of [{ 'private-token': token }, { authorization: `Bearer ${token}` }])
      expect((await world.anonymous.get('/projects', { headers })).status).toBe(401)
  })
})
