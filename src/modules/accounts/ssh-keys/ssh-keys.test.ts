import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { parsePublicKey } from './public-key.ts'
import { newPublicKey } from './testing.ts'

const taken = {
  key: ['has already been taken'],
  fingerprint: ['has already been taken'],
  fingerprint_sha256: ['has already been taken'],
}

describe('SSH keys', () => {
  test('D3-KEY-CREATE, D3-KEY-DELETE: users add, read, list and delete their own SSH keys', async ({ world }) => {
    const ann = await world.user()
    const key = newPublicKey()
    const made = await ann.post('/user/keys', { title: 'laptop', key: ` ${key}\n`, expires_at: '2090-01-01' })
    expect(made).toMatchObject({
      status: 201,
      json: { title: 'laptop', key, expires_at: '2090-01-01T00:00:00.000Z' },
    })
    await ann.post('/user/keys', { title: 'desktop', key: newPublicKey('ecdsa') })
    expect(await ann.get(`/user/keys/${made.json.id}`)).toMatchObject({ status: 200, json: made.json })
    const list = await ann.get('/user/keys')
    expect(list.json).toMatchObject([{ title: 'laptop' }, { title: 'desktop', expires_at: null }])
    expect(list.headers['x-total']).toBe('2')
    expect((await ann.delete(`/user/keys/${made.json.id}`)).status).toBe(204)
    const gone = { status: 404, json: { message: '404 Key Not Found' } }
    expect(await ann.delete(`/user/keys/${made.json.id}`)).toMatchObject(gone)
    expect(await ann.get(`/user/keys/${made.json.id}`)).toMatchObject(gone)
    expect((await ann.post('/user/keys', { title: 'again', key })).status).toBe(201)
  })

  test('404 for SSH keys of other users', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = (await ann.post('/user/keys', { title: 'laptop', key: newPublicKey() })).json
    expect((await bob.get(`/user/keys/${id}`)).status).toBe(404)
    expect((await bob.delete(`/user/keys/${id}`)).status).toBe(404)
    expect((await bob.get(`/users/${bob.id}/keys/${id}`)).status).toBe(404)
    expect((await ann.get('/user/keys')).json).toHaveLength(1)
  })

  test('D3-STATUS-BY-NAME: anyone reads the SSH keys of a user, by id or username', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/user/keys', { title: 'laptop', key: newPublicKey() })).json
    expect((await world.anonymous.get(`/users/${ann.username.toUpperCase()}/keys`)).json).toMatchObject([{ id }])
    expect((await world.anonymous.get(`/users/${ann.id}/keys/${id}`)).json).toMatchObject({ id, title: 'laptop' })
    expect(await ann.get('/users/999999/keys')).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
    expect((await world.anonymous.get('/user/keys')).status).toBe(401)
  })

  test('D3-KEY-ADMIN: only administrators add and delete SSH keys of other users', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const key = newPublicKey()
    expect((await bob.post(`/users/${ann.id}/keys`, { title: 'x', key })).status).toBe(403)
    expect((await ann.post(`/users/${ann.id}/keys`, { title: 'x', key })).status).toBe(403)
    expect((await world.anonymous.post(`/users/${ann.id}/keys`, { title: 'x', key })).status).toBe(401)
    const made = await world.root.post(`/users/${ann.id}/keys`, { title: 'given', key })
    expect(made).toMatchObject({ status: 201, json: { title: 'given', key } })
    const at = `/users/${ann.id}/keys/${made.json.id}`
    expect((await bob.delete(at)).status).toBe(403)
    expect((await world.root.delete(`/users/${bob.id}/keys/${made.json.id}`)).status).toBe(404)
    expect((await world.root.delete(at)).status).toBe(204)
    expect(await world.root.delete(at)).toMatchObject({ status: 404, json: { message: '404 Key Not Found' } })
    expect(await world.root.post('/users/999999/keys', { title: 'x', key })).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
  })

  test('D3-KEY-TAKEN: an SSH key is unique in the instance, whatever its comment', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project()
    const [key, deployed] = [newPublicKey(), newPublicKey()]
    await ann.post('/user/keys', { title: 'mine', key })
    await world.root.post(`/projects/${project.id}/deploy_keys`, { title: 'deploy', key: deployed })
    const again = key.replace(/ [^ ]*$/, ' another comment')
    for (const [who, path, text] of [
      [ann, '/user/keys', key],
      [bob, '/user/keys', again],
      [world.root, `/users/${bob.id}/keys`, again],
      [bob, '/user/keys', deployed],
    ] as const)
      expect(await who.post(path, { title: 'x', key: text })).toMatchObject({ status: 400, json: { message: taken } })
    const raced = newPublicKey()
    const answers = await Promise.all(
      [ann, bob, ann, bob].map((who) => who.post('/user/keys', { title: 'x', key: raced })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
  })

  test('400 for an SSH key that would have expired already', async ({ world }) => {
    const sent = { title: 'old', key: newPublicKey(), expires_at: new Date().toISOString().slice(0, 10) }
    expect(await (await world.user()).post('/user/keys', sent)).toMatchObject({
      status: 400,
      json: { message: { key: ['has expired'] } },
    })
  })

  test.for([
    [{}, { error: 'title is missing, key is missing' }],
    [{ title: 'x' }, { error: 'key is missing' }],
    [{ key: 'y' }, { error: 'title is missing' }],
    [{ title: 'x', key: 'y', expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [
      { title: ' ', key: 'nonsense' },
      { message: { title: ["can't be blank"], key: ['is invalid'], fingerprint: ['cannot be generated'] } },
    ],
    [{ title: 'x', key: 'ssh-rsa nonsense' }, { message: { fingerprint: ['cannot be generated'] } }],
    [
      { title: 'x', key: '' },
      { message: { key: ["can't be blank", 'is invalid'], fingerprint: ['cannot be generated'] } },
    ],
    [
      { title: 'x', key: `ssh-rsa ${'A'.repeat(5000)}` },
      { message: { key: ['is too long (maximum is 5000 characters)'] } },
    ],
    [
      { title: 'x', key: `ssh-rsa ${'A'.repeat(1_000_000)}` },
      { message: { key: ['is too long (maximum is 5000 characters)'] } },
    ],
  ] as const)('400 by field for the SSH key %#', async ([sent, body], { world }) => {
    expect(await world.root.post('/user/keys', sent)).toMatchObject({ status: 400, json: body })
  })

  test('400 for a NUL in an SSH key or its title', async ({ world }) => {
    const key = newPublicKey()
    for (const sent of [
      { title: 'a\0b', key },
      { title: 'x', key: `${key}\0` },
    ])
      expect((await world.root.post('/user/keys', sent)).status).toBe(400)
  })

  test('the title of an SSH key has 255 characters at most', async ({ world }) => {
    const at = (length: number) => world.root.post('/user/keys', { title: 'é'.repeat(length), key: newPublicKey() })
    expect((await at(255)).status).toBe(201)
    expect((await at(256)).json).toEqual({ message: { title: ['is too long (maximum is 255 characters)'] } })
  })

  test('412 when an SSH key changed after If-Unmodified-Since', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/user/keys', { title: 'laptop', key: newPublicKey() })).json
    const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
    expect((await ann.delete(`/user/keys/${id}`, { headers })).status).toBe(412)
  })

  test('administrators find SSH keys by id and fingerprint; 403 for others', async ({ world }) => {
    const ann = await world.user()
    const key = newPublicKey()
    const { md5, sha256 } = parsePublicKey(key)!
    const { id } = (await ann.post('/user/keys', { title: 'laptop', key })).json
    const found = { status: 200, json: { id, key, user: { id: ann.id, username: ann.username } } }
    expect(await world.root.get(`/keys/${id}`)).toMatchObject(found)
    for (const text of [md5, `MD5:${md5}`, `SHA256:${sha256}`])
      expect(await world.root.get(`/keys?fingerprint=${encodeURIComponent(text)}`)).toMatchObject(found)
    expect(await world.root.get('/keys?fingerprint=nonsense')).toMatchObject({
      status: 400,
      json: { message: 'Failed to return the key' },
    })
    const unknown = { status: 404, json: { message: '404 Key Not Found' } }
    expect(await world.root.get(`/keys?fingerprint=SHA256:${'A'.repeat(43)}`)).toMatchObject(unknown)
    expect(await world.root.get('/keys/999999')).toMatchObject(unknown)
    expect((await world.root.get('/keys')).json).toEqual({ error: 'fingerprint is missing' })
    expect((await ann.get(`/keys/${id}`)).status).toBe(403)
    expect((await ann.get(`/keys?fingerprint=${md5}`)).status).toBe(403)
    expect((await world.anonymous.get(`/keys/${id}`)).status).toBe(401)
  })
})

const restricted = async (world: World, settings: Parameters<World['settings']>[0], key: string) => {
  await world.settings(settings)
  try {
    return await world.root.post('/user/keys', { title: 'x', key })
  } finally {
    await world.settings({
      rsa_key_restriction: 0,
      dsa_key_restriction: 0,
      ecdsa_key_restriction: 0,
      ed25519_key_restriction: 0,
    })
  }
}

describe('D2-SETTINGS-KEY-RESTRICTION', () => {
  test('restriction -1 forbids a key type, and the error lists the allowed ones', async ({ world }) => {
    expect((await restricted(world, { rsa_key_restriction: -1 }, newPublicKey('rsa'))).json).toEqual({
      message: { key: ['type is forbidden. Must be DSA, ECDSA, or ED25519'] },
    })
    const most = { rsa_key_restriction: -1, dsa_key_restriction: -1, ed25519_key_restriction: -1 }
    expect((await restricted(world, most, newPublicKey())).json).toEqual({
      message: { key: ['type is forbidden. Must be ECDSA'] },
    })
    expect((await restricted(world, most, newPublicKey('ecdsa'))).status).toBe(201)
  })

  test('a positive restriction is the minimum number of bits, 0 allows any', async ({ world }) => {
    expect((await restricted(world, { rsa_key_restriction: 3072 }, newPublicKey('rsa', 2048))).json).toEqual({
      message: { key: ['must be at least 3072 bits'] },
    })
    expect((await restricted(world, { ecdsa_key_restriction: 384 }, newPublicKey('ecdsa', 256))).json).toEqual({
      message: { key: ['must be at least 384 bits'] },
    })
    expect((await restricted(world, { ecdsa_key_restriction: 384 }, newPublicKey('ecdsa', 521))).status).toBe(201)
    expect((await restricted(world, {}, newPublicKey('rsa', 1024))).status).toBe(201)
  })

  test('key restrictions apply to deploy keys', async ({ world }) => {
    const { id } = await world.project()
    await world.settings({ ed25519_key_restriction: -1 })
    const answer = await world.root.post(`/projects/${id}/deploy_keys`, { title: 'x', key: newPublicKey() })
    await world.settings({ ed25519_key_restriction: 0 })
    expect(answer.json).toEqual({ message: { 'deploy_key.key': ['type is forbidden. Must be RSA, DSA, or ECDSA'] } })
  })
})
