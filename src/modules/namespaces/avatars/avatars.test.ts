import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { blobCheck } from '../../../blobs/check.ts'
import { checkAvatars } from './check.ts'

/** The smallest PNG: one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const form = (fields: Record<string, string>, file: Buffer | string = png, filename = 'my face.png') => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  data.set('avatar', new Blob([file as string]), filename)
  return data
}

const person = () => {
  const username = unique('pictured')
  return { username, name: username, email: `${username}@example.com`, password: 'correct horse battery' }
}

describe('avatars', () => {
  test('D1-MULTIPART-FOR-FILES: a user is created with an avatar, served at avatar_url', async ({ world }) => {
    const made = await world.root.send('POST', '/users', { body: form(person()) })
    expect(made.status).toBe(201)
    expect(made.json.avatar_url).toBe(`${world.origin}/uploads/-/system/user/avatar/${made.json.id}/my_face.png`)
    const served = await world.anonymous.bytes(made.json.avatar_url)
    expect(served).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
    })
    expect(served.body.equals(png)).toBe(true)
  })

  test('a new avatar of the same file name is seen at once: a client keeps the old one only while a 304 says so', async ({
    world,
  }) => {
    const made = (await world.root.send('POST', '/users', { body: form(person()) })).json
    const first = await world.root.bytes(made.avatar_url)
    expect(first.headers['cache-control']).toBe('max-age=0, private, must-revalidate')
    const asked = { 'if-none-match': String(first.headers['etag']) }
    expect(await world.root.bytes(made.avatar_url, asked)).toMatchObject({ status: 304, body: Buffer.alloc(0) })

    const other = Buffer.concat([png, Buffer.from('other')])
    const changed = await world.root.send('PUT', `/users/${made.id}`, { body: form({}, other as unknown as string) })
    expect(changed.json.avatar_url).toBe(made.avatar_url)
    expect(await world.root.bytes(made.avatar_url, asked)).toMatchObject({ status: 200, body: other })
  })

  test('404 for the avatar of a private project or group without access to it', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    for (const [path, kind, id] of [
      [`/groups/${group.id}`, 'group', group.id],
      [`/projects/${project.id}`, 'project', project.id],
    ] as const) {
      const changed = await world.root.send('PUT', path, { body: form({}) })
      expect(changed.json.avatar_url).toBe(`${world.origin}/uploads/-/system/${kind}/avatar/${id}/my_face.png`)
      const address = `//uploads/-/system/${kind}/avatar/${id}/my_face.png`
      expect((await world.root.get(address)).status).toBe(200)
      expect((await world.anonymous.get(address)).status).toBe(404)
      const removed = await world.root.send('PUT', path, {
        body: new URLSearchParams({ avatar: '' }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(removed).toMatchObject({ status: 200, json: { avatar_url: null } })
      expect((await world.root.get(address)).status).toBe(404)
    }
  })

  test('a personal namespace has the avatar of its user', async ({ world }) => {
    const made = (await world.root.send('POST', '/users', { body: form(person()) })).json
    const ann = await world.as(made)
    const { id } = (await ann.post('/projects', { name: unique('pictured'), visibility: 'public' })).json
    const shown = { kind: 'user', avatar_url: made.avatar_url, web_url: made.web_url }
    expect((await ann.get('/namespaces')).json).toEqual([expect.objectContaining(shown)])
    expect((await ann.get(`/namespaces/${ann.username}`)).json).toMatchObject(shown)
    expect((await world.anonymous.get(`/projects/${id}`)).json.namespace).toMatchObject(shown)
    expect((await world.root.get(`/users/${ann.id}/projects`)).json).toMatchObject([{ namespace: shown }])
  })

  test('a user without an avatar has that of the avatar service, or null if disabled', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: unique('pictured'), visibility: 'public' })).json
    const pictures = async () => [
      (await ann.get('/namespaces')).json[0].avatar_url,
      (await ann.get(`/projects/${id}`)).json.namespace.avatar_url,
      (await world.anonymous.get(`/projects/${id}`)).json.namespace.avatar_url,
    ]
    const md5 = createHash('md5').update(`${ann.username}@example.com`).digest('hex')
    const service = `https://www.gravatar.com/avatar/${md5}?s=80&d=identicon`
    expect(await pictures()).toEqual([service, service, service])
    await world.settings({ avatar_service_enabled: false })
    expect(await pictures()).toEqual([null, null, null])
  })

  test.for([
    ['a page with the extension of an image', '<script>alert(1)</script>', 'x.png', /file format is not supported/],
    ['of another format', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'x.svg', /file format is not supported/],
    ['without an extension', png, 'png', /file format is not supported/],
    ['larger than 200 KB', Buffer.concat([png, Buffer.alloc(200 * 1024)]), 'x.png', /is too big/],
  ] as const)('400 for an avatar that is %s', async ([, file, filename, message], { world }) => {
    const answer = await world.root.send('POST', '/users', { body: form(person(), file as Buffer, filename) })
    expect(answer).toMatchObject({ status: 400, json: { message: { avatar: [expect.stringMatching(message)] } } })
  })

  test('checkAvatars reports avatars whose bytes are missing', async ({ world }) => {
    const ctx = await world.app.open(null)
    // Bytes that no other test stores.
    const file = Buffer.concat([png, Buffer.from(unique('pixel'))])
    const made = await world.root.send('POST', '/users', { body: form(person(), file) })
    expect(await checkAvatars(ctx.db, blobCheck(ctx.blobs))).toEqual([])
    const digest = createHash('sha256').update(file).digest('hex')
    await ctx.blobs.delete(digest as Digest)
    expect(await checkAvatars(ctx.db, blobCheck(ctx.blobs))).toEqual([
      `user ${made.json.id}: its picture ${digest} is missing`,
    ])
    await ctx.blobs.put(Readable.from([file]))
  })

  test('400 for an avatar that is text, and 404 for avatar paths that do not exist', async ({ world }) => {
    expect(await world.root.post('/users', { ...person(), avatar: '../../etc/passwd' })).toMatchObject({
      status: 400,
      json: { error: 'avatar is invalid' },
    })
    const made = await world.root.send('POST', '/users', { body: form(person(), png, '../../../x.png') })
    expect(made.json.avatar_url).toMatch(/\/x\.png$/)
    for (const path of [
      'user/avatar/1/..%2f..%2fx.png',
      'user/avatar/0/x.png',
      'nothing/avatar/1/x.png',
      'user/avatar/99999999999999999999/x.png',
      'user/avatar/1/%00.png',
    ])
      expect((await world.root.get(`//uploads/-/system/${path}`)).status).toBe(404)
  })
})
