import { describe, expect } from 'vitest'
import { batch, follow, lfs, oidOf } from '../../src/modules/pushes/large-files/testing.ts'
import { deployKey, hasSsh, type KeyPair, ssh, withKey } from '../ssh.ts'
import { Client, temporaryFolder, test, unique } from '../world.ts'

describe.skipIf(!hasSsh)('git over SSH (needs OpenSSH)', () => {
  test('git-lfs-authenticate returns HTTP credentials for users and deploy keys', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const annsKey = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'reporter']] })
    const robot = await deployKey(world, folder.path, project, true)
    const authenticate = async (key: KeyPair, operation: string) =>
      ssh(world, key, `git-lfs-authenticate '/${project.full_path}.git' ${operation}`)
    expect(await authenticate(annsKey, 'upload')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Access forbidden'),
    })
    for (const [key, operation] of [
      [annsKey, 'download'],
      [robot, 'download'],
      [robot, 'upload'],
    ] as const) {
      const { code, out } = await authenticate(key, operation)
      expect(code).toBe(0)
      const { href, header } = JSON.parse(out)
      const batch = (wanted: string) =>
        fetch(`${href}/objects/batch`, {
          method: 'POST',
          headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
          body: JSON.stringify({ operation: wanted, objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
        })
      expect((await batch('download')).status).toBe(200)
      expect((await batch('upload')).status).toBe(operation === 'upload' ? 200 : 403)
    }
    // The credential is checked against its owner on each use.
    const { header, href } = JSON.parse((await authenticate(robot, 'upload')).out)
    const lock = await fetch(`${href}/locks`, {
      method: 'POST',
      headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify({ path: 'a.bin' }),
    })
    expect(lock.status).toBe(201)
    const [{ id }] = (await world.root.get(`/projects/${project.id}/deploy_keys`)).json
    await world.root.delete(`/projects/${project.id}/deploy_keys/${id}`)
    const gone = await fetch(`${href}/locks`, { headers: header })
    expect(gone.status).toBe(401)
  })

  test('what git-lfs-authenticate returned, and what was asked for with it, is refused once the key is removed', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'developer']] })
    const { out } = await ssh(world, key, `git-lfs-authenticate '${project.full_path}.git' upload`)
    const { href, header } = JSON.parse(out)
    const batch = (header: object) =>
      fetch(`${href}/objects/batch`, {
        method: 'POST',
        headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
        body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
      })
    const first = await batch(header)
    expect(first.status).toBe(200)
    const { upload } = JSON.parse(await first.text()).objects[0].actions
    expect((await batch(upload.header)).status).toBe(200)
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect([(await batch(header)).status, (await batch(upload.header)).status]).toEqual([401, 401])
  })

  test('git-lfs-authenticate for a path without a project creates none: the first files do', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const [key, other] = [await withKey(folder.path, ann), await withKey(folder.path, bob)]
    const project = { full_path: `${ann.username}/${unique('made')}` }
    const authenticate = (shown: KeyPair, operation: string) =>
      ssh(world, shown, `git-lfs-authenticate '${project.full_path}.git' ${operation}`)
    const found = async () => (await ann.get(`/projects/${encodeURIComponent(project.full_path)}`)).json
    for (const [shown, operation] of [
      [other, 'upload'],
      [key, 'download'],
    ] as const)
      expect(await authenticate(shown, operation)).toMatchObject({ code: 1, err: 'Stithy: Not found.\n' })

    const { href, header } = JSON.parse((await authenticate(key, 'upload')).out)
    expect(href).toBe(`${world.config.externalUrl}/${project.full_path}.git/info/lfs`)
    const headers = { authorization: header.Authorization }
    const call = (path: string, json: object, { full_path } = project, shown = headers) =>
      lfs(world.anonymous, { full_path }, 'POST', path, { json, headers: shown })
    const content = unique('content')
    const objects = [{ oid: oidOf(content), size: content.length }]
    expect((await call('locks/verify', {})).status).toBe(404)
    expect((await call('objects/batch', { operation: 'upload', objects: [] })).status).toBe(404)
    expect((await call('objects/batch', { operation: 'download', objects })).status).toBe(404)
    // The credential is for this path only.
    const beside = { full_path: `${ann.username}/${unique('beside')}` }
    expect((await call('objects/batch', { operation: 'upload', objects }, beside)).status).toBe(404)
    const own = await world.project({ members: [[ann, 'maintainer']] })
    expect((await call('objects/batch', { operation: 'download', objects }, own)).status).toBe(403)
    expect(await found()).not.toHaveProperty('id')

    const { actions } = (await call('objects/batch', { operation: 'upload', objects })).json.objects[0]
    expect(await found()).toMatchObject({ visibility: 'private', empty_repo: true })
    expect((await follow(world.anonymous, 'PUT', actions.upload, content)).status).toBe(200)
    expect((await call('locks/verify', {})).status).toBe(200)
    expect((await call('objects/batch', { operation: 'download', objects })).json.objects[0]).toHaveProperty('actions')
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect((await call('objects/batch', { operation: 'upload', objects })).status).toBe(401)
  })

  test('a credential for a path without a project creates none once the right to create projects there has ended', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const project = { full_path: `${group.full_path}/${unique('made')}` }
    const { out } = await ssh(world, key, `git-lfs-authenticate '${project.full_path}.git' upload`)
    await world.root.delete(`/groups/${group.id}/members/${ann.id}`)
    const json = { operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 1 }] }
    const headers = { authorization: JSON.parse(out).header.Authorization }
    expect((await lfs(world.anonymous, project, 'POST', 'objects/batch', { json, headers })).status).toBe(404)
    expect((await world.root.get(`/groups/${group.id}/projects`)).json).toEqual([])
  })

  test('large files need a credential of an SSH key while only SSH is enabled', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ visibility: 'public', members: [[ann, 'developer']] })
    const keys = [await withKey(folder.path, ann), await deployKey(world, folder.path, project, true)]
    const content = unique('content')
    const objects = [{ oid: oidOf(content), size: content.length }]
    const { actions } = (await batch(ann, project, 'upload', [content])).json.objects[0]
    const { username, token } = (
      await world.root.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] })
    ).json
    const robot = new Client(world.origin, { id: 0, username, token })
    const closed = { status: 403, json: { message: 'Git access over HTTP is not allowed' } }
    await world.settings({ enabled_git_access_protocol: 'ssh' })
    try {
      for (const who of [world.anonymous, ann, robot])
        expect(await batch(who, project, 'download', [content]), who.username).toMatchObject(closed)
      expect(await batch(ann, project, 'upload', [content])).toMatchObject(closed)
      expect(await lfs(ann, project, 'GET', 'locks')).toMatchObject(closed)
      expect((await follow(world.anonymous, 'PUT', actions.upload, content)).status).toBe(403)
      for (const key of keys) {
        const { out } = await ssh(world, key, `git-lfs-authenticate ${project.full_path}.git upload`)
        const headers = { authorization: JSON.parse(out).header.Authorization }
        const call = (json: object) => lfs(world.anonymous, project, 'POST', 'objects/batch', { json, headers })
        const [asked] = (await call({ operation: 'upload', objects })).json.objects
        if (asked.actions)
          expect((await follow(world.anonymous, 'PUT', asked.actions.upload, content)).status).toBe(200)
        const [found] = (await call({ operation: 'download', objects })).json.objects
        expect((await follow(world.anonymous, 'GET', found.actions.download)).text).toBe(content)
      }
    } finally {
      await world.settings({ enabled_git_access_protocol: null })
    }
    expect((await batch(robot, project, 'download', [content])).status).toBe(200)
  })
})
