import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, vi } from 'vitest'
import { beginRequest } from '../../../../test/begun-request.ts'
import { largeFilesOf } from '../../../../test/tables/pushes.ts'
import { revokeTokens } from '../../../../test/tables/tokens.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { eventually } from '../../../../test/waiting.ts'
import { Client, freePort, type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { createApp } from '../../../app.ts'
import { deployKeyActor } from '../../accounts/ssh-keys/authenticate.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'
import { largeFileCredentials } from './credentials.ts'
import { basic, batch, follow, lfs, oidOf, upload } from './testing.ts'

const place = (project: TestProject, oid: string, size?: number) =>
  `//${project.full_path}.git/gitlab-lfs/objects/${oid}${size === undefined ? '' : `/${size}`}`

const blobsOf = (world: World) => fileURLToPath(world.config.blobUrl)
/** Unfinished files, without those that earlier tests left. */
const halfStored = async (world: World) => {
  const names = await readdir(join(blobsOf(world), 'tmp'))
  return names.filter((name) => !leftBefore.has(name))
}
let leftBefore: ReadonlySet<string> = new Set()
const has = (world: World, oid: string) =>
  readdir(join(blobsOf(world), 'sha256', oid.slice(0, 2), oid.slice(2, 4))).then(
    (names) => names.includes(oid),
    () => false,
  )

/** Sends a body of unknown length, piece by piece; returns a status, or `cut` when the connection ends without a response. */
const stream = (world: World, path: string, who: Client, source: Readable): Promise<number | 'cut'> =>
  new Promise((resolve) => {
    const req = request(world.origin + path.slice(1), { method: 'PUT', headers: basic(who) }, (res) => {
      res.resume()
      resolve(res.statusCode!)
    })
    req.on('error', () => resolve('cut'))
    source.on('error', () => req.destroy())
    source.pipe(req)
  })

describe('LFS uploads', () => {
  test.beforeEach(async ({ world }) => {
    leftBefore = new Set(await readdir(join(blobsOf(world), 'tmp')).catch(() => []))
  })

  test('a file whose last bytes arrive after its sender was removed or blocked is not stored; one of a renamed project is', async ({
    world,
  }) => {
    const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'developer'],
        [bob, 'developer'],
        [eve, 'developer'],
      ],
    })
    const late = async (who: Client) => {
      const content = unique('late')
      const { actions } = (await batch(who, project, 'upload', [content])).json.objects[0]
      const path = new URL(actions.upload.href).pathname
      const sent = beginRequest(`${world.origin}${path}`, { method: 'PUT', headers: actions.upload.header })
      await sent.begun
      return async () => ({ oid: oidOf(content), status: (await sent.complete(content)).status })
    }
    const [kept, removed, blocked] = [await late(ann), await late(bob), await late(eve)]
    await world.root.delete(`/projects/${project.id}/members/${bob.id}`)
    await world.root.post(`/users/${eve.id}/block`)
    await world.root.put(`/projects/${project.id}`, { path: unique('renamed') })
    expect([(await removed()).status, (await blocked()).status]).toEqual([403, 403])
    const { oid, status } = await kept()
    expect(status).toBe(200)
    expect(await largeFilesOf(world, project.id)).toEqual([{ oid }])
  })

  test.for([
    ['another content', (content: string) => [oidOf(`${content}!`), content.length] as const],
    ['fewer bytes', (content: string) => [oidOf(content), content.length + 1] as const],
    ['more bytes', (content: string) => [oidOf(content), content.length - 1] as const],
  ] as const)('an LFS upload with %s than announced stores nothing', async ([, announce], { world }) => {
    const project = await world.project()
    const content = unique('content')
    const [oid, size] = announce(content)
    const path = place(project, oid, size)
    expect((await world.root.send('PUT', path, { headers: basic(world.root), body: content })).status).toBe(422)
    expect(await stream(world, path, world.root, Readable.from([content]))).toBe(422)
    expect(await largeFilesOf(world, project.id)).toEqual([])
    expect([await halfStored(world), await has(world, oid), await has(world, oidOf(content))]).toEqual([
      [],
      false,
      false,
    ])
  })

  test('an LFS upload with many more bytes than announced gets a 422 response', async ({ world }) => {
    const project = await world.project()
    const content = Buffer.alloc(3_000_000, unique('long'))
    const path = place(project, oidOf(content), 1000)
    for (let n = 0; n < 3; n++) expect(await stream(world, path, world.root, Readable.from([content]))).toBe(422)
    expect(await halfStored(world)).toEqual([])
  })

  test('an incomplete LFS upload stores nothing', async ({ world }) => {
    const project = await world.project()
    const content = Buffer.alloc(1_000_000, unique('half'))
    const broken = Readable.from(
      (async function* () {
        yield content.subarray(0, 500_000)
        await eventually(async () => expect(await halfStored(world)).toHaveLength(1))
        throw new Error('gone')
      })(),
    )
    expect(await stream(world, place(project, oidOf(content), content.length), world.root, broken)).toBe('cut')
    await eventually(async () => expect(await halfStored(world)).toEqual([]))
    expect(await has(world, oidOf(content))).toBe(false)
  })

  test('413 without reading the body for an LFS upload above max_lfs_object_size', async ({ world }) => {
    const project = await world.project()
    await world.settings({ max_lfs_object_size: 1 })
    try {
      const content = Buffer.alloc(1024 * 1024 + 1)
      expect((await batch(world.root, project, 'upload', [content])).json.objects[0].error).toMatchObject({ code: 422 })
      const path = place(project, oidOf(content), content.length)
      expect(await stream(world, path, world.root, Readable.from([content]))).toBe(413)
    } finally {
      await world.settings({ max_lfs_object_size: 0 })
    }
  })

  test('LFS files that would exceed the size limit of a repository are refused: in a batch, at their start, and of many at once the last', async ({
    world,
  }) => {
    const project = await world.project()
    const contents = Array.from({ length: 4 }, () => unique('large').padEnd(400_000, 'x'))
    const actions = (await batch(world.root, project, 'upload', contents)).json.objects.map(
      (each: { actions: { upload: object } }) => each.actions.upload,
    )
    await world.settings({ repository_size_limit: 1 })
    const refused = {
      status: 403,
      json: { message: expect.stringContaining('would exceed its size limit of 1 MB by') },
    }
    expect(await batch(world.root, project, 'upload', contents)).toMatchObject(refused)
    expect((await batch(world.root, project, 'upload', contents.slice(0, 2))).status).toBe(200)
    const huge = unique('huge').padEnd(2_000_000, 'x')
    expect(
      (
        await world.root.send('PUT', place(project, oidOf(huge), huge.length), {
          headers: basic(world.root),
          body: huge,
        })
      ).status,
    ).toBe(403)
    const sent = await Promise.all(
      actions.map((action: never, n: number) => follow(world.root, 'PUT', action, contents[n])),
    )
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403])
    expect(await largeFilesOf(world, project.id, 'oid')).toHaveLength(2)
    // They are there already.
    const stored = contents.filter((_, n) => sent[n].status === 200)
    expect(
      (await batch(world.root, project, 'upload', stored)).json.objects.map((each: object) => 'actions' in each),
    ).toEqual([false, false])
  })

  test('concurrent LFS uploads of the same file are stored and counted once', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    const content = unique('popular')
    const path = place(project, oidOf(content), content.length)
    const sent = await Promise.all(
      Array.from({ length: 16 }, () => world.root.send('PUT', path, { headers: basic(world.root), body: content })),
    )
    expect(sent.map(({ status }) => status)).toEqual(Array(16).fill(200))
    const other = unique('popular')
    expect(await upload(world.root, project, other)).toBe(200)
    const size = content.length + other.length
    expect((await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics).toMatchObject({
      lfs_objects_size: size,
      storage_size: size,
    })
    const [listed] = (await world.root.get(`/groups?statistics=true&search=${group.path}`)).json
    expect(listed.statistics.lfs_objects_size).toBe(size)
  })

  // test/scenarios/memory.test.ts tests that they pass in little memory.
  test('an LFS file of 64 MiB is stored, and read in ranges', async ({ world }) => {
    const project = await world.project()
    const piece = Buffer.alloc(256 * 1024, unique('piece'))
    const pieces = Array.from({ length: 256 }, () => piece)
    const hash = createHash('sha256')
    for (const each of pieces) hash.update(each)
    const oid = hash.digest('hex')
    const size = piece.length * pieces.length
    expect(await stream(world, place(project, oid, size), world.root, Readable.from(pieces))).toBe(200)
    const part = await world.root.get(place(project, oid), { headers: { ...basic(world.root), range: 'bytes=-5' } })
    expect(part).toMatchObject({ status: 206, headers: { 'content-length': '5' } })
  })
})

describe('LFS downloads', () => {
  test('LFS downloads support ranges and are cacheable for ever', async ({ world }) => {
    const project = await world.project()
    const content = unique('0123456789')
    const oid = oidOf(content)
    await upload(world.root, project, content)
    const get = (headers: Record<string, string> = {}, method = 'GET') =>
      world.root.send(method, place(project, oid), { headers: { ...basic(world.root), ...headers } })
    expect(await get()).toMatchObject({
      status: 200,
      text: content,
      headers: {
        etag: `"${oid}"`,
        'content-type': 'application/octet-stream',
        'content-length': String(content.length),
        'accept-ranges': 'bytes',
        'cache-control': 'private, max-age=31536000, immutable',
        vary: expect.stringContaining('Authorization'),
        'x-content-type-options': 'nosniff',
      },
    })
    expect(await get({}, 'HEAD')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': String(content.length) },
    })
    for (const [range, part, from, to] of [
      ['bytes=2-4', '234', 2, 4],
      ['bytes=5-', content.slice(5), 5, content.length - 1],
      ['bytes=-3', content.slice(-3), content.length - 3, content.length - 1],
      ['bytes=8-9999', content.slice(8), 8, content.length - 1],
    ] as const)
      expect(await get({ range })).toMatchObject({
        status: 206,
        text: part,
        headers: { 'content-range': `bytes ${from}-${to}/${content.length}` },
      })
    for (const range of ['bytes=9999-', 'bytes=-0'])
      expect(await get({ range })).toMatchObject({
        status: 416,
        headers: { 'content-range': `bytes */${content.length}` },
      })
    for (const range of ['bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-'])
      expect((await get({ range })).status).toBe(200)
    expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200)
    expect(await get({ 'if-none-match': `W/"${oid}"` })).toMatchObject({ status: 304, text: '' })
    expect((await world.root.get(place(project, oidOf('nothing')), { headers: basic(world.root) })).status).toBe(404)
  })

  test('an empty LFS file can be stored and read', async ({ world }) => {
    const project = await world.project()
    expect(await upload(world.root, project, '')).toBe(200)
    const got = await world.root.get(place(project, oidOf('')), { headers: basic(world.root) })
    expect(got).toMatchObject({ status: 200, text: '' })
  })
})

describe('credentials of LFS actions', () => {
  const download = async (who: Client, project: TestProject, content: string) =>
    (await batch(who, project, 'download', [content])).json.objects[0].actions.download

  test('LFS credentials work for one project and one operation', async ({ world }) => {
    const [project, other] = [await world.project(), await world.project()]
    const content = unique('content')
    await upload(world.root, project, content)
    await upload(world.root, other, content)
    const { header } = await download(world.root, project, content)
    const at = (path: string) => ({ href: world.origin + path.slice(1), header })
    expect((await follow(world.root, 'GET', at(place(project, oidOf(content))))).status).toBe(200)
    expect((await follow(world.root, 'GET', at(place(other, oidOf(content))))).status).toBe(403)
    const put = at(place(project, oidOf('x'), 1))
    expect((await follow(world.root, 'PUT', put, 'x')).status).toBe(403)
    const [{ actions }] = (await batch(world.root, project, 'upload', [unique('new')])).json.objects
    const both = { href: world.origin + place(project, oidOf(content)).slice(1), header: actions.upload.header }
    expect((await follow(world.root, 'GET', both)).status).toBe(200)
  })

  test('LFS credentials end with the account, token or membership', async ({ world }) => {
    const content = unique('content')
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'reporter']] })
    await upload(world.root, project, content)
    const tried = async (action: any) => (await follow(world.root, 'GET', action)).status
    const action = await download(ann, project, content)
    expect(await tried(action)).toBe(200)

    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await tried(action)).toBe(404)
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 20 })
    expect(await tried(action)).toBe(200)

    await changeUser(world, ann.id, { state: 'blocked' })
    expect(await tried(action)).toBe(403)
    await changeUser(world, ann.id, { state: 'active' })
    await revokeTokens(world, ann.id)
    expect(await tried(action)).toBe(401)
  })

  test('LFS credentials of a deploy key upload and lock as long as the key may push', async ({ world }) => {
    const project = await world.project()
    const keys = `/projects/${project.id}/deploy_keys`
    const { id } = (await world.root.post(keys, { title: 'x', key: newPublicKey(), can_push: true })).json
    const ctx = await world.app.open((await deployKeyActor(world.db, id))!)
    const { header } = await largeFileCredentials(ctx, project, 'upload')
    const content = unique('by key')
    const asked = { operation: 'upload', objects: [{ oid: oidOf(content), size: content.length }] }
    const headers = { authorization: header.Authorization }
    const first = await lfs(world.anonymous, project, 'POST', 'objects/batch', { json: asked, headers })
    expect(first.status, first.text).toBe(200)
    const { upload: action } = first.json.objects[0].actions
    expect((await follow(world.anonymous, 'PUT', action, content)).status).toBe(200)
    expect((await lfs(world.anonymous, project, 'POST', 'locks', { json: { path: 'x' }, headers })).status).toBe(201)
    await world.root.put(`${keys}/${id}`, { can_push: false })
    expect((await lfs(world.anonymous, project, 'POST', 'locks', { json: { path: 'y' }, headers })).status).toBe(403)
    await world.root.delete(`${keys}/${id}`)
    expect((await lfs(world.anonymous, project, 'POST', 'objects/batch', { json: asked, headers })).status).toBe(401)
  })

  test('LFS credentials of a deploy token download as long as the token is active, and never upload or lock', async ({
    world,
  }) => {
    const content = unique('for a token')
    const [project, other] = [await world.project(), await world.project()]
    for (const each of [project, other]) await upload(world.root, each, content)
    const tokens = `/projects/${project.id}/deploy_tokens`
    const made = (await world.root.post(tokens, { name: 'x', scopes: ['read_repository'] })).json
    const machine = new Client(world.origin, { id: 0, username: made.username, token: made.token })
    const action = await download(machine, project, content)
    expect(action.header.Authorization).toMatch(/^Bearer t/)
    expect(await follow(world.anonymous, 'GET', action)).toMatchObject({ status: 200, text: content })
    const elsewhere = action.href.replace(project.full_path, other.full_path)
    expect((await follow(world.anonymous, 'GET', { ...action, href: elsewhere })).status).toBe(404)
    expect((await batch(machine, project, 'upload', ['new'])).status).toBe(403)
    expect((await lfs(machine, project, 'POST', 'locks', { json: { path: 'x' } })).status).toBe(403)
    await world.root.delete(`${tokens}/${made.id}`)
    expect((await follow(world.anonymous, 'GET', action)).status).toBe(401)
  })

  test('LFS credentials work in every process', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    await upload(world.root, project, content)
    const { href, header } = await download(world.root, project, content)
    const port = await freePort()
    const config = { ...world.config, http: { ...world.config.http, port }, sshPort: 0 }
    const parts = { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') }
    await using other = await createApp(config, parts)
    await other.listen()
    const client = new Client(`http://127.0.0.1:${port}`)
    expect(await follow(client, 'GET', { href, header })).toMatchObject({ status: 200, text: content })
  })

  test('LFS credentials of a password give others that end with them', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const asked = { operation: 'upload', objects: [{ oid: oidOf('x'), size: 1 }] }
    const ask = async (authorization: string) => {
      const { status, json } = await lfs(world.anonymous, project, 'POST', 'objects/batch', {
        json: asked,
        headers: { authorization },
      })
      return { status, action: json.objects?.[0].actions.upload }
    }
    const words = Buffer.from(`${ann.username}:correct horse battery`).toString('base64')
    const first = (await ask(`Basic ${words}`)).action
    expect(first.expires_in).toBe(1800)
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 1200_000)
    try {
      const second = (await ask(first.header.Authorization)).action
      expect(second.expires_in).toBeLessThanOrEqual(600)
      clock.mockReturnValue(now + 1801_000)
      expect((await ask(second.header.Authorization)).status).toBe(401)
    } finally {
      clock.mockRestore()
    }
  })

  test('LFS credentials of a password, and those that they gave, are refused once the password was changed', async ({
    world,
  }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const asked = { operation: 'upload', objects: [{ oid: oidOf('x'), size: 1 }] }
    const ask = (authorization: string) =>
      lfs(world.anonymous, project, 'POST', 'objects/batch', { json: asked, headers: { authorization } })
    const given = async (authorization: string): Promise<string> =>
      (await ask(authorization)).json.objects[0].actions.upload.header.Authorization
    const words = Buffer.from(`${ann.username}:correct horse battery`).toString('base64')
    const first = await given(`Basic ${words}`)
    const second = await given(first)
    await world.root.put(`/users/${ann.id}`, { password: 'another horse battery' })
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([401, 401])
  })

  test('LFS credentials are signed, and expire', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    await upload(world.root, project, content)
    const { href, header } = await download(world.root, project, content)
    const tried = async (authorization: string) =>
      (await follow(world.root, 'GET', { href, header: { Authorization: authorization } })).status
    const given: string = header.Authorization
    expect(await tried(given.replace('.download.', '.upload.'))).toBe(401)
    expect(await tried(given.replace('Bearer 1.', 'Bearer 2.'))).toBe(401)
    expect(await tried(given.slice(0, -2))).toBe(401)
    expect(await tried('Bearer nonsense')).toBe(401)
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 1801_000)
    try {
      expect(await tried(given)).toBe(401)
    } finally {
      clock.mockRestore()
    }
  })
})
