import { describe, expect } from 'vitest'
import { changeProject, largeFilesSizeOf } from '../../../../test/tables/projects.ts'
import { deleteLargeFiles } from '../../../../test/tables/pushes.ts'
import { test, unique } from '../../../../test/world.ts'
import { basic, batch, follow, lfs, lfsType, oidOf, upload } from './testing.ts'

describe('POST <project>.git/info/lfs/objects/batch', () => {
  test('an LFS file is uploaded, verified and downloaded', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    const oid = oidOf(content)
    const asked = await batch(world.root, project, 'upload', [content])
    expect(asked).toMatchObject({
      status: 200,
      headers: { 'content-type': lfsType },
      json: { transfer: 'basic', hash_algo: 'sha256', objects: [{ oid, size: content.length, authenticated: true }] },
    })
    const { upload, verify } = asked.json.objects[0].actions
    expect(upload).toEqual({
      href: `${project.url}/gitlab-lfs/objects/${oid}/${content.length}`,
      header: { Authorization: expect.stringMatching(/^Bearer /) },
      expires_in: 1800,
    })
    const confirm = () =>
      follow(world.root, 'POST', verify, JSON.stringify({ oid, size: content.length }), { 'content-type': lfsType })
    expect((await confirm()).status).toBe(404)
    expect((await follow(world.root, 'PUT', upload, content)).status).toBe(200)
    expect((await confirm()).status).toBe(200)

    expect((await batch(world.root, project, 'upload', [content])).json.objects).toEqual([
      { oid, size: content.length },
    ])
    const [found] = (await batch(world.root, project, 'download', [content])).json.objects
    expect(found.actions.download.href).toBe(`${project.url}/gitlab-lfs/objects/${oid}`)
    expect(await follow(world.root, 'GET', found.actions.download)).toMatchObject({ status: 200, text: content })
  })

  test('an upload to a path without a project creates the project of a push, and none where a push would create none', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = { full_path: `${ann.username}/${unique('made')}` }
    const content = unique('content')
    const readOnly = await world.as(ann, ['read_api', 'read_repository'])
    const found = () => ann.get(`/projects/${encodeURIComponent(project.full_path)}`)
    for (const [who, operation, contents] of [
      [bob, 'upload', [content]],
      [readOnly, 'upload', [content]],
      [ann, 'download', [content]],
      [ann, 'upload', []],
    ] as const)
      expect((await batch(who, project, operation, contents)).status).toBe(404)
    expect((await batch(world.anonymous, project, 'upload', [content])).status).toBe(401)
    expect((await found()).status).toBe(404)
    expect(await upload(ann, project, content)).toBe(200)
    expect((await found()).json).toMatchObject({ visibility: 'private', empty_repo: true })
    expect((await batch(bob, project, 'upload', [content])).status).toBe(404)
  })

  test('each object of an LFS batch has its own result', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    const oid = oidOf(content)
    await upload(world.root, project, content)
    const asked = async (operation: string, objects: unknown[]) =>
      (await lfs(world.root, project, 'POST', 'objects/batch', { json: { operation, objects } })).json.objects.map(
        ({ error, actions }: any) => error?.code ?? (actions ? 'actions' : 'nothing'),
      )
    const objects = [
      { oid, size: content.length },
      { oid, size: 1 },
      { oid: '0'.repeat(64), size: 1 },
      { oid: oid.toUpperCase(), size: 1 },
      { oid: '../../etc/passwd', size: 1 },
      { oid: '0'.repeat(64), size: -1 },
      { oid: '0'.repeat(64), size: 1.5 },
      { oid: '0'.repeat(64), size: 1e300 },
    ]
    expect(await asked('download', objects)).toEqual(['actions', 422, 404, 422, 422, 422, 422, 422])
    expect(await asked('upload', objects)).toEqual(['nothing', 422, 'actions', 422, 422, 422, 422, 422])
    const [, , missing] = (
      await lfs(world.root, project, 'POST', 'objects/batch', {
        json: { operation: 'download', objects },
      })
    ).json.objects
    expect(missing.error.message).toBe("Object does not exist on the server or you don't have permissions to access it")
  })

  test.for([
    ['no operation', { objects: [] }, 422],
    ['an unknown operation', { operation: 'delete', objects: [] }, 422],
    ['no objects', { operation: 'download' }, 422],
    ['invalid objects', { operation: 'download', objects: [null] }, 422],
    ['a size as text', { operation: 'download', objects: [{ oid: '0'.repeat(64), size: '1' }] }, 422],
    ['an unknown transfer', { operation: 'download', objects: [], transfers: ['tus'] }, 422],
    ['an unknown hash', { operation: 'download', objects: [], hash_algo: 'sha512' }, 409],
    ['an invalid ref', { operation: 'download', objects: [], ref: 'main' }, 422],
    ['a list', [], 422],
    [
      'too many objects',
      { operation: 'download', objects: Array.from({ length: 1001 }, () => ({ oid: 'x', size: 1 })) },
      413,
    ],
    ['a body above the limit', { operation: 'download', objects: [], more: 'x'.repeat(2 ** 20) }, 413],
  ] as const)('the LFS batch is refused with %s', async ([, json, status], { world }) => {
    const project = await world.project()
    const answer = await lfs(world.root, project, 'POST', 'objects/batch', { json })
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': lfsType },
      json: { message: expect.any(String), documentation_url: `${world.origin}/-/docs` },
    })
  })

  test('415 or 406 for LFS requests with other media types', async ({ world }) => {
    const project = await world.project()
    const call = (headers: Record<string, string>) =>
      lfs(world.root, project, 'POST', 'objects/batch', {
        json: { operation: 'download', objects: [] },
        headers: { ...basic(world.root), ...headers },
      })
    expect((await call({ 'content-type': 'text/plain' })).status).toBe(415)
    expect((await call({ accept: 'text/html' })).status).toBe(406)
    expect((await call({ 'content-type': `${lfsType}; charset=utf-8`, accept: '*/*' })).status).toBe(200)
  })

  test('501 for the legacy LFS API', async ({ world }) => {
    const project = await world.project()
    const answer = await lfs(world.root, project, 'POST', 'objects', { json: {} })
    expect(answer).toMatchObject({
      status: 501,
      json: { message: expect.stringMatching(/^Server supports batch API/) },
    })
  })
})

describe('access to LFS files', () => {
  test.for([
    ['anonymous', 'private', 'none', 401, 401],
    ['anonymous', 'public', 'none', 200, 401],
    ['a stranger', 'private', 'none', 404, 404],
    ['a stranger', 'internal', 'none', 200, 403],
    ['a guest', 'private', 'guest', 404, 404],
    ['a reporter', 'private', 'reporter', 200, 403],
    ['a developer', 'private', 'developer', 200, 200],
    ['a maintainer', 'private', 'maintainer', 200, 200],
    ['an administrator', 'private', 'none', 200, 200],
  ] as const)(
    'LFS for %s of a %s project (%s): download %d, upload %d',
    async ([who, visibility, level, download, up], { world }) => {
      const someone =
        who === 'anonymous' ? world.anonymous : who === 'an administrator' ? world.root : await world.user()
      const project = await world.project({ visibility, members: level === 'none' ? [] : [[someone, level]] })
      const content = unique('content')
      await upload(world.root, project, content)
      expect((await batch(someone, project, 'download', [content])).status).toBe(download)
      const asked = await batch(someone, project, 'upload', [unique('other')])
      expect(asked.status).toBe(up)
      const bytes = await someone.get(`//${project.full_path}.git/gitlab-lfs/objects/${oidOf(content)}`, {
        headers: basic(someone),
      })
      expect(bytes.status).toBe(download)
      const other = unique('direct')
      const sent = await someone.send(
        'PUT',
        `//${project.full_path}.git/gitlab-lfs/objects/${oidOf(other)}/${other.length}`,
        {
          headers: basic(someone),
          body: other,
        },
      )
      expect(sent.status).toBe(up)
      if (up === 401)
        expect(asked.headers).toMatchObject({
          'lfs-authenticate': 'Basic realm="Stithy"',
          'www-authenticate': 'Basic realm="Stithy"',
        })
      if (up === 403) expect(asked.json.message).toBe('Access forbidden. Check your access level.')
      if (up === 404) expect(asked.json.message).toBe('Not found.')
    },
  )

  test('missing and hidden projects get the same LFS response', async ({ world }) => {
    const ann = await world.user()
    const hidden = await batch(ann, await world.project(), 'download', [])
    const missing = await batch(ann, { full_path: 'no/such' }, 'download', [])
    expect({ ...missing.json, request_id: '' }).toEqual({ ...hidden.json, request_id: '' })
    expect([hidden.status, missing.status]).toEqual([404, 404])
  })

  test('LFS checks token scopes as git does, and archived projects refuse uploads', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    await upload(world.root, project, content)
    const reads = await world.as(world.root, ['read_repository'])
    const peeks = await world.as(world.root, ['read_user'])
    const both = async (who: typeof reads) => [
      (await batch(who, project, 'download', [content])).status,
      (await batch(who, project, 'upload', [content])).status,
    ]
    expect(await both(reads)).toEqual([200, 403])
    expect(await both(peeks)).toEqual([403, 403])
    await world.archive(project)
    expect(await both(world.root)).toEqual([200, 403])
  })

  test('LFS can be disabled in projects, groups and the instance', async ({ world }) => {
    const group = await world.group({ lfs_enabled: false })
    const off = await world.project({ group })
    const on = await world.project({ group, lfs_enabled: true })
    expect((await world.root.get(`/projects/${off.id}`)).json.lfs_enabled).toBe(false)
    expect(await batch(world.root, off, 'download', [])).toMatchObject({ status: 404, json: { message: 'Not found.' } })
    expect((await batch(world.root, on, 'download', [])).status).toBe(200)
    await world.root.put(`/projects/${on.id}`, { lfs_enabled: false })
    expect((await batch(world.root, on, 'upload', [])).status).toBe(404)
    expect((await world.root.put(`/projects/${off.id}`, { lfs_enabled: true })).json.lfs_enabled).toBe(true)
    expect((await batch(world.root, off, 'download', [])).status).toBe(200)
    await world.settings({ lfs_enabled: false })
    try {
      expect(await batch(world.root, on, 'download', [])).toMatchObject({
        status: 501,
        json: { message: 'Git LFS is not enabled on this Stithy server, contact your admin.' },
      })
    } finally {
      await world.settings({ lfs_enabled: true })
    }
  })

  test('a renamed project allows LFS downloads at the old URL and uploads at the new one', async ({ world }) => {
    const project = await world.project()
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-new` })
    expect((await batch(world.root, project, 'download', [])).status).toBe(200)
    expect(await batch(world.root, project, 'upload', [])).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining(`${project.full_path}-new.git`) },
    })
  })
})

describe('knowing the hash of an LFS file', () => {
  test('a user who knows an oid cannot download the file, and must upload its bytes', async ({ world }) => {
    const content = unique('secret')
    const hidden = await world.project()
    await upload(world.root, hidden, content)
    const eve = await world.user()
    const own = await world.project({ members: [[eve, 'maintainer']] })
    expect((await batch(eve, own, 'download', [content])).json.objects[0].error.code).toBe(404)
    const [asked] = (await batch(eve, own, 'upload', [content])).json.objects
    expect(asked.actions.upload).toBeDefined()
    expect((await follow(eve, 'PUT', asked.actions.upload, 'x'.repeat(content.length))).status).toBe(422)
    expect((await batch(eve, own, 'download', [content])).json.objects[0].error.code).toBe(404)
  })

  test('a fork has the LFS files of its source for callers who can read the source', async ({ world }) => {
    const content = unique('forked')
    const source = await world.project()
    await upload(world.root, source, content)
    const ann = await world.user()
    const fork = await world.project({ members: [[ann, 'developer']] })
    await changeProject(world, fork.id, { forked_from_project_id: source.id })
    expect((await batch(ann, fork, 'download', [content])).json.objects[0].error.code).toBe(404)
    expect((await batch(ann, fork, 'upload', [content])).json.objects[0].actions).toBeDefined()

    await world.root.post(`/projects/${source.id}/members`, { user_id: ann.id, access_level: 20 })
    expect((await batch(ann, fork, 'download', [content])).json.objects[0].actions).toBeDefined()
    expect((await batch(ann, fork, 'upload', [content])).json.objects[0].actions).toBeUndefined()
    // From now on the file belongs to the fork, too.
    await deleteLargeFiles(world, source.id)
    expect((await batch(ann, fork, 'download', [content])).json.objects[0].actions).toBeDefined()
    const [statistics] = await largeFilesSizeOf(world, fork.id)
    expect(statistics.lfs_objects_size).toBe(content.length)
  })
})
