import { generateKey } from 'openpgp'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { newGpgKey } from './testing.ts'

const missing = { status: 404, json: { message: '404 GPG Key Not Found' } }
const invalid = `is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' and ends with '-----END PGP PUBLIC KEY BLOCK-----'`

describe('GPG keys', () => {
  test('D3-GPG-OWN: users add, read, list and delete their own GPG keys', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const key = await newGpgKey('ann@example.com')
    const made = await ann.post('/user/gpg_keys', { key: `\n${key}\r\n ` })
    expect(made).toMatchObject({ status: 201, json: { key } })
    const second = (await ann.post('/user/gpg_keys', { key: await newGpgKey('ann@example.com') })).json
    await bob.post('/user/gpg_keys', { key: await newGpgKey('bob@example.com') })
    const list = await ann.get('/user/gpg_keys')
    expect(list.json).toEqual([made.json, second])
    expect(list.headers['x-total']).toBe('2')
    expect(await ann.get(`/user/gpg_keys/${made.json.id}`)).toMatchObject({ status: 200, json: made.json })
    expect(await bob.get(`/user/gpg_keys/${made.json.id}`)).toMatchObject(missing)
    expect(await bob.delete(`/user/gpg_keys/${made.json.id}`)).toMatchObject(missing)
    expect((await ann.delete(`/user/gpg_keys/${made.json.id}`)).status).toBe(204)
    expect(await ann.delete(`/user/gpg_keys/${made.json.id}`)).toMatchObject(missing)
    expect((await ann.get('/user/gpg_keys')).json).toEqual([second])
  })

  test('a GPG key is added, also if a name in it has a NUL', async ({ world }) => {
    const ann = await world.user()
    const userIDs = [{ name: 'Ann\0 Example', email: `${ann.username}@example.com` }]
    const { publicKey } = await generateKey({ userIDs, format: 'armored' })
    const made = await ann.post('/user/gpg_keys', { key: publicKey.trim() })
    expect(made.status, made.text).toBe(201)
  })

  test('202 when a GPG key is revoked by its user, 404 for others and then', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = (await ann.post('/user/gpg_keys', { key: await newGpgKey('ann@example.com') })).json
    expect(await bob.post(`/user/gpg_keys/${id}/revoke`)).toMatchObject(missing)
    expect(await ann.post(`/user/gpg_keys/${id}/revoke`)).toMatchObject({ status: 202, text: '202' })
    expect(await ann.post(`/user/gpg_keys/${id}/revoke`)).toMatchObject(missing)
    expect(await ann.get(`/user/gpg_keys/${id}`)).toMatchObject(missing)
  })

  test('administrators manage GPG keys of other users', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const at = `/users/${ann.id}/gpg_keys`
    const key = await newGpgKey('ann@example.com')
    const made = await world.root.post(at, { key })
    expect(made).toMatchObject({ status: 201, json: { key } })
    expect((await world.root.get(at)).json).toEqual([made.json])
    expect((await world.root.get(`${at}/${made.json.id}`)).json).toEqual(made.json)
    expect(await world.root.get(`/users/${bob.id}/gpg_keys/${made.json.id}`)).toMatchObject(missing)
    expect((await ann.get('/user/gpg_keys')).json).toEqual([made.json])
    for (const answer of [await bob.get(at), await bob.post(at, { key }), await bob.post(`${at}/1/revoke`)])
      expect(answer.status).toBe(403)
    expect((await world.root.post(`${at}/${made.json.id}/revoke`)).status).toBe(202)
    const again = (await world.root.post(at, { key })).json
    expect((await world.root.delete(`${at}/${again.id}`)).status).toBe(204)
    expect((await world.root.get('/users/999999/gpg_keys')).json).toEqual({ message: '404 User Not Found' })
  })

  test('400 for a GPG key that another user has, in any spelling', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const key = await newGpgKey('ann@example.com')
    await ann.post('/user/gpg_keys', { key })
    const taken = ['has already been taken']
    for (const text of [key, key.replace('BLOCK-----\n', 'BLOCK-----\nComment: mine\n')])
      expect(await bob.post('/user/gpg_keys', { key: text })).toMatchObject({
        status: 400,
        json: { message: { key: taken, fingerprint: taken, primary_keyid: taken } },
      })
  })

  test('400 with the fields for an invalid GPG key', async ({ world }) => {
    const refused = async (sent: object) => (await world.root.post('/user/gpg_keys', sent)).json
    expect(await refused({})).toEqual({ error: 'key is missing' })
    expect(await refused({ key: ' ' })).toEqual({ message: { key: ["can't be blank", invalid] } })
    expect(await refused({ key: 'ssh-rsa AAAA' })).toEqual({ message: { key: [invalid] } })
    expect(await refused({ key: 'x'.repeat(1_000_000) })).toEqual({
      message: { key: ['is too long (maximum is 131072 characters)'] },
    })
    expect(
      await refused({ key: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----' }),
    ).toEqual({ message: { fingerprint: ["can't be blank"], primary_keyid: ["can't be blank"] } })
  })

  test('412 when a GPG key changed after If-Unmodified-Since', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/user/gpg_keys', { key: await newGpgKey('ann@example.com') })).json
    const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }
    expect((await ann.delete(`/user/gpg_keys/${id}`, { headers })).status).toBe(412)
  })
})
