import { describe, expect, inject } from 'vitest'
import { type Client, freePort, test, type World } from '../../../../test/world.ts'
import { createApp } from '../../../app.ts'

const make = (world: World, { id }: Client, more: object = {}) =>
  world.root.post(`/users/${id}/impersonation_tokens`, { name: 'look', scopes: ['api'], ...more })

describe('impersonation tokens', () => {
  test('impersonation tokens act as the user, who cannot see them', async ({ world }) => {
    const ann = await world.user()
    const made = await make(world, ann)
    expect(made.status).toBe(201)
    const { token, ...record } = made.json
    expect(record).toEqual({
      id: expect.any(Number),
      name: 'look',
      revoked: false,
      created_at: expect.any(String),
      scopes: ['api'],
      user_id: ann.id,
      last_used_at: null,
      active: true,
      expires_at: null,
      limited_to: null,
      impersonation: true,
    })
    const as = (path: string) => world.anonymous.get(path, { headers: { 'private-token': token } })
    expect((await as('/user')).json.id).toBe(ann.id)
    const place = `/users/${ann.id}/impersonation_tokens`
    expect((await world.root.get(`${place}/${record.id}`)).json).toMatchObject({ id: record.id, name: 'look' })
    expect((await ann.get('/personal_access_tokens')).json).toHaveLength(1)
    expect((await ann.get(`/personal_access_tokens/${record.id}`)).status).toBe(404)

    expect((await world.root.delete(`${place}/${record.id}`)).status).toBe(204)
    await expect.poll(async () => (await as('/user')).status).toBe(401)
  })

  test('403 to an impersonation token that would replace itself by a later one', async ({ world }) => {
    const { token } = (await make(world, await world.user(), { expires_at: '2100-01-01' })).json
    const headers = { 'private-token': token }
    expect((await world.anonymous.send('POST', '/personal_access_tokens/self/rotate', { headers })).status).toBe(403)
    expect((await world.anonymous.get('/user', { headers })).status).toBe(200)
  })

  test('an impersonation token accepts a date-time as expiry, as the Go library sends it', async ({ world }) => {
    const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)
    const made = await make(world, await world.user(), { expires_at: `${day}T23:30:00.5+02:00` })
    expect(made).toMatchObject({ status: 201, json: { expires_at: day } })
  })

  test('impersonation tokens can be listed by state', async ({ world }) => {
    const ann = await world.user()
    const [one, two] = [
      (await make(world, ann)).json.id,
      (await make(world, ann, { expires_at: '2020-01-01' })).json.id,
    ]
    const ids = async (query = '') =>
      (await world.root.get(`/users/${ann.id}/impersonation_tokens${query}`)).json.map(({ id }: { id: number }) => id)
    expect(await ids()).toEqual([one, two])
    expect(await ids('?state=active')).toEqual([one])
    expect(await ids('?state=inactive')).toEqual([two])
  })

  test('403 for impersonation tokens unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    const path = `/users/${ann.id}/impersonation_tokens`
    for (const [who, status] of [
      [world.anonymous, 401],
      [ann, 403],
    ] as const)
      for (const [verb, at] of [
        ['GET', path],
        ['POST', path],
        ['GET', `${path}/1`],
        ['DELETE', `${path}/1`],
      ] as const)
        expect((await who.send(verb, at, { json: { name: 'x', scopes: ['api'] } })).status, `${verb} ${at}`).toBe(
          status,
        )
  })

  test('404 for impersonation tokens of other users, and for tokens of another kind', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = (await make(world, ann)).json
    const [personal] = (await ann.get('/personal_access_tokens')).json
    for (const path of [`${bob.id}/impersonation_tokens/${id}`, `${ann.id}/impersonation_tokens/${personal.id}`])
      expect(await world.root.delete(`/users/${path}`)).toMatchObject({
        status: 404,
        json: { message: '404 Impersonation Token Not Found' },
      })
    expect((await world.root.get('/users/999999999/impersonation_tokens')).json).toEqual({
      message: '404 User Not Found',
    })
  })
})

test('401 for impersonation tokens, on every transport, when impersonation is disabled', async ({ world }) => {
  const port = await freePort()
  const config = { ...world.config, http: { ...world.config.http, port }, sshPort: 0, impersonation: false }
  await using app = await createApp(config, { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') })
  await app.listen()
  const ann = await world.user()
  const { token } = (await make(world, ann)).json
  const asked = (path: string, headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const refused = await asked('/api/v4/user', { 'private-token': token })
  expect([refused.status, await refused.json()]).toEqual([
    401,
    {
      error: 'invalid_token',
      error_description: 'Token is an impersonation token but impersonation was disabled.',
    },
  ])
  const project = await world.project({ visibility: 'public' })
  const git = `/${project.full_path}.git/info/refs?service=git-upload-pack`
  const basic = (secret: string) => ({ authorization: `Basic ${Buffer.from(`x:${secret}`).toString('base64')}` })
  expect((await asked(git, basic(token))).status).toBe(401)
  expect((await asked(git, basic(ann.token!))).status).toBe(200)
  expect((await asked('/api/v4/user', { 'private-token': ann.token! })).status).toBe(200)
})
