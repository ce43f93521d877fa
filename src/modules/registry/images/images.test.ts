import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import {
  digestOf,
  imageAt,
  imageConfig,
  ociIndex,
  ociManifest,
  Registry,
  repositoryOf,
} from '../../../edges/registry/testing.ts'

const at = (project: { id: number }, rest = '') => `/projects/${project.id}/registry/repositories${rest}`

describe('container repositories of projects and groups', () => {
  test('D2-REGISTRY-NAME-EMPTY D2-REGISTRY-TAGS: repositories are listed by name, with tags if requested', async ({
    world,
  }) => {
    const group = await world.group()
    const project = await world.project({ group, path: unique('Mixed') })
    const [own, below] = [
      await Registry.open(world.root, imageAt(project)),
      await Registry.open(world.root, imageAt(project, 'tools/lint')),
    ]
    for (const tag of ['two', 'one']) await own.image(tag)
    await below.image('v1')
    const host = new URL(world.config.externalUrl).host
    const listed = await world.root.get(at(project))
    expect(listed.json).toEqual([
      {
        id: expect.any(Number),
        name: '',
        path: imageAt(project),
        project_id: project.id,
        location: `${host}/${imageAt(project)}`,
        created_at: expect.any(String),
        status: null,
      },
      expect.objectContaining({ name: 'tools/lint', path: imageAt(project, 'tools/lint') }),
    ])
    const [first] = listed.json
    const tags = ['one', 'two'].map((name) => ({
      name,
      path: `${first.path}:${name}`,
      location: `${first.location}:${name}`,
    }))
    const full = { ...first, tags_count: 2, tags }
    expect((await world.root.get(at(project, '?tags=true&tags_count=true'))).json[0]).toEqual(full)
    expect((await world.root.get(`/groups/${group.id}/registry/repositories?tags=1`)).json[0]).toEqual({
      ...first,
      tags,
    })
    expect((await world.root.get(`/registry/repositories/${first.id}`)).json).toEqual(first)
    expect((await world.root.get(`/registry/repositories/${first.id}?tags=true&tags_count=true`)).json).toEqual(full)
    const page = await world.root.get(at(project, '?per_page=1&page=2'))
    expect([page.json.length, page.headers['x-total']]).toEqual([1, '2'])
    expect((await world.root.get(at(project, `/${first.id}/tags`))).json).toEqual(tags)
    expect((await world.root.get(at(project, `/${first.id}/tags?per_page=1&page=2`))).json).toEqual(tags.slice(1))
  })

  test('a list of a group has the repositories whose images the caller may read', async ({ world }) => {
    const reporter = await world.user()
    const group = await world.group({ members: [[reporter, 'reporter']] })
    const inner = await world.group({ parent: group })
    const [open, off, elsewhere] = [
      await world.project({ group: inner }),
      await world.project({ group, container_registry_access_level: 'disabled' }),
      await world.project(),
    ]
    for (const project of [open, elsewhere]) await Registry.open(world.root, imageAt(project))
    await world.root.put(`/projects/${off.id}`, { container_registry_enabled: true })
    await Registry.open(world.root, imageAt(off))
    const list = async () =>
      (await reporter.get(`/groups/${group.id}/registry/repositories`)).json.map((each: any) => each.project_id)
    expect((await list()).toSorted()).toEqual([open.id, off.id].toSorted())
    await world.root.put(`/projects/${off.id}`, { container_registry_enabled: false })
    expect(await list()).toEqual([open.id])
    expect((await reporter.get(at(off))).json).toEqual({ message: '403 Forbidden' })
  })

  test('404 for repositories of other projects and for hidden ones', async ({ world }) => {
    const [one, two] = [await world.project(), await world.project()]
    await Registry.open(world.root, imageAt(one))
    const { id } = await repositoryOf(world, one)
    const missing = { status: 404, json: { message: '404 Not found' } }
    expect(await world.root.get(at(two, `/${id}/tags`))).toMatchObject(missing)
    expect(await world.root.delete(at(two, `/${id}`))).toMatchObject(missing)
    const stranger = await world.user()
    expect((await stranger.get(`/registry/repositories/${id}`)).json).toEqual(
      (await stranger.get('/registry/repositories/999999999')).json,
    )
    expect((await stranger.get(`/registry/repositories/${id}`)).status).toBe(404)
  })

  test('D2-REGISTRY-DELETE-ASYNC: a deleted repository is listed until the job runs, and can be restored', async ({
    world,
  }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project, 'doomed'))
    await registry.image('one')
    const { id } = await repositoryOf(world, project, 'doomed')
    const deleted = await world.root.delete(at(project, `/${id}`))
    expect([deleted.status, deleted.text]).toEqual([202, '202'])
    expect((await repositoryOf(world, project, 'doomed')).status).toBe('delete_scheduled')
    expect((await world.root.delete(at(project, `/${id}`))).status).toBe(202)
    await world.runJobs()
    await expect.poll(() => repositoryOf(world, project, 'doomed')).toBeUndefined()
    expect((await registry.send('GET', 'manifests/one')).status).toBe(404)
    const bin = `/projects/${project.id}/registry/deleted_repositories`
    expect((await world.root.get(`${bin}?tags_count=true`)).json).toMatchObject([{ id, tags_count: 1 }])
    expect(await world.root.post(at(project, `/${id}/restore`))).toMatchObject({
      status: 201,
      json: { id, status: null },
    })
    expect((await registry.send('GET', 'manifests/one')).status).toBe(200)
    expect((await world.root.get(bin)).json).toEqual([])
    expect((await world.root.post(at(project, `/${id}/restore`))).status).toBe(404)
  })

  test('other repositories of a project stay as they are when one is deleted or restored', async ({ world }) => {
    const project = await world.project()
    const ids: Record<string, number> = {}
    for (const name of ['kept', 'one', 'two']) {
      await (await Registry.open(world.root, imageAt(project, name))).image('tag')
      ids[name] = (await repositoryOf(world, project, name)).id
    }
    const names = async () =>
      (await world.root.get(at(project))).json.map(({ name, status }: { name: string; status: unknown }) => [
        name,
        status,
      ])
    await world.root.delete(at(project, `/${ids.one}`))
    expect(await names()).toEqual([
      ['kept', null],
      ['one', 'delete_scheduled'],
      ['two', null],
    ])
    await world.root.delete(at(project, `/${ids.two}`))
    await world.runJobs()
    await expect.poll(names).toEqual([['kept', null]])
    expect((await world.root.post(at(project, `/${ids.one}/restore`))).status).toBe(201)
    expect(await names()).toEqual([
      ['kept', null],
      ['one', null],
    ])
  })

  test('an image pushed after the deletion of its repository, but before the job runs, is in a new repository', async ({
    world,
  }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project, 'again'))
    await registry.image('one')
    const { id } = await repositoryOf(world, project, 'again')
    expect((await world.root.delete(at(project, `/${id}`))).status).toBe(202)
    await registry.image('two')
    await world.runJobs()
    await expect.poll(() => world.takeJobs(`delete_container_repository:${id}`)).toEqual([])
    expect((await repositoryOf(world, project, 'again')).id).not.toBe(id)
    expect(await registry.tags()).toEqual(['two'])
    expect((await world.root.get(`/projects/${project.id}/registry/deleted_repositories`)).json).toMatchObject([{ id }])
  })

  test('409 for restoring a repository whose name was pushed meanwhile', async ({ world }) => {
    const project = await world.project()
    await (await Registry.open(world.root, imageAt(project))).image('one')
    const { id } = await repositoryOf(world, project)
    await world.root.delete(at(project, `/${id}`))
    await world.runJobs()
    await expect.poll(() => repositoryOf(world, project)).toBeUndefined()
    const again = await Registry.open(world.root, imageAt(project))
    expect(await again.tags()).toEqual([])
    await again.image('two')
    expect((await repositoryOf(world, project)).id).not.toBe(id)
    expect((await world.root.post(at(project, `/${id}/restore`))).status).toBe(409)
    expect(await again.tags()).toEqual(['two'])
  })

  test('images go with a project that is renamed, moved or deleted', async ({ world }) => {
    const project = await world.project()
    const before = imageAt(project)
    await (await Registry.open(world.root, before)).image('one')
    const renamed = (await world.root.put(`/projects/${project.id}`, { path: unique('Renamed') })).json
    const group = await world.group()
    await world.root.put(`/projects/${project.id}/transfer`, { namespace: group.id })
    const after = (await world.root.get(`/projects/${project.id}`)).json.path_with_namespace.toLowerCase()
    expect(after).toBe(`${group.full_path}/${renamed.path}`.toLowerCase())
    expect(await (await Registry.open(world.root, after)).tags()).toEqual(['one'])
    expect((await repositoryOf(world, project)).path).toBe(after)
    // As with Git, the old path still serves reads.
    const old = await Registry.open(world.root, before)
    expect(await old.tags()).toEqual(['one'])
    expect((await old.send('POST', 'blobs/uploads/')).status).toBe(401)
    await world.settings({ deletion_adjourned_period: 0 })
    await world.runJobs()
    await world.root.delete(`/projects/${project.id}`)
    await expect.poll(async () => (await Registry.open(world.root, after)).tags()).toEqual([])
  })

  test('images go with a user or group that is renamed, and are pulled by the old name, too', async ({ world }) => {
    const [ann, group] = [await world.user(), await world.group()]
    const own = (await ann.post('/projects', { name: unique('own') })).json
    const shared = await world.project({ group })
    for (const [project, path, rename] of [
      [own, unique('bea'), (path: string) => world.root.put(`/users/${ann.id}`, { username: path })],
      [
        { path: shared.path, path_with_namespace: shared.full_path },
        unique('team'),
        (path: string) => world.root.put(`/groups/${group.id}`, { path }),
      ],
    ] as const) {
      const before = imageAt({ full_path: project.path_with_namespace })
      await (await Registry.open(world.root, before)).image('one')
      expect(await rename(path)).toMatchObject({ status: 200 })
      const after = `${path}/${project.path}`.toLowerCase()
      for (const name of [before, after]) expect(await (await Registry.open(world.root, name)).tags()).toEqual(['one'])
    }
  })

  test('the statistics of a project have the bytes of its layers, each once', async ({ world }) => {
    const project = await world.project()
    await world.runJobs()
    for (const name of ['', 'copy']) {
      const registry = await Registry.open(world.root, imageAt(project, name))
      await registry.push('x'.repeat(1000))
    }
    const size = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.container_registry_size
    await expect.poll(size).toBe(1000)
  })
})

describe('tags of container repositories', () => {
  test('a tag has the digests, size and creation time of its image', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const created = '2020-02-03T04:05:06.789Z'
    const digest = await registry.image('one', { created, layer: 'x'.repeat(70) })
    const { id } = await repositoryOf(world, project)
    const config = digestOf(JSON.stringify({ architecture: 'amd64', os: 'linux', created })).slice('sha256:'.length)
    const host = new URL(world.config.externalUrl).host
    expect((await world.root.get(at(project, `/${id}/tags/one`))).json).toEqual({
      name: 'one',
      path: `${imageAt(project)}:one`,
      location: `${host}/${imageAt(project)}:one`,
      revision: config,
      short_revision: config.slice(0, 9),
      digest,
      created_at: created,
      total_size: 70,
    })
    const missing = { status: 404, json: { message: '404 Tag Not Found' } }
    for (const name of ['none', '.x', 'x'.repeat(200), encodeURIComponent('\0')])
      expect((await world.root.get(at(project, `/${id}/tags/${name}`))).status).toBe(name.includes('%00') ? 400 : 404)
    expect(await world.root.get(at(project, `/${id}/tags/none`))).toMatchObject(missing)
  })

  test('an image of several platforms has no revision, and the sizes and the last time of its images', async ({
    world,
  }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const manifests = []
    for (const [arch, created] of [
      ['amd64', '2020-01-01T00:00:00Z'],
      ['arm64', '2021-01-01T00:00:00Z'],
    ] as const) {
      const digest = await registry.image(arch, { created, layer: arch })
      const head = await registry.send('HEAD', `manifests/${arch}`)
      manifests.push({ mediaType: ociManifest, digest, size: Number(head.headers['content-length']) })
    }
    await registry.putManifest('multi', { schemaVersion: 2, manifests }, ociIndex)
    const { id } = await repositoryOf(world, project)
    expect((await world.root.get(at(project, `/${id}/tags/multi`))).json).toMatchObject({
      revision: null,
      short_revision: null,
      created_at: '2021-01-01T00:00:00.000Z',
      total_size: 10,
    })
  })

  test.for([['nonsense'], ['99999-01-01T00:00:00Z'], ['2020-01-01'], ['\0']])(
    'an image whose configuration says it was created %j has no creation time',
    async ([created], { world }) => {
      const project = await world.project()
      await (await Registry.open(world.root, imageAt(project))).image('one', { created: created! })
      const { id } = await repositoryOf(world, project)
      expect((await world.root.get(at(project, `/${id}/tags/one`))).json.created_at).toBeNull()
    },
  )

  test('an image whose configuration is not JSON is stored', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const config = { mediaType: imageConfig, digest: await registry.push('{{{'), size: 3 }
    expect((await registry.putManifest('one', { schemaVersion: 2, config, layers: [] })).status).toBe(201)
  })

  test('D2-REGISTRY-TAG-BLOBS: a deleted tag leaves other tags of its image and its layers, and can be restored', async ({
    world,
  }) => {
    const developer = await world.user()
    const project = await world.project({ members: [[developer, 'developer']] })
    const registry = await Registry.open(world.root, imageAt(project))
    const manifest = await registry.manifestOf()
    for (const tag of ['one', 'two']) await registry.putManifest(tag, manifest)
    const { id } = await repositoryOf(world, project)
    const one = at(project, `/${id}/tags/one`)
    const deleted = await developer.delete(one)
    expect([deleted.status, deleted.text]).toEqual([200, '200'])
    expect(await developer.delete(one)).toMatchObject({ status: 404, json: { message: '404 Tag Not Found' } })
    expect(await registry.tags()).toEqual(['two'])
    expect((await registry.send('HEAD', `blobs/${manifest.layers[0]!.digest}`)).status).toBe(200)
    expect(await developer.post(`${one}/restore`)).toMatchObject({ status: 201, json: { name: 'one' } })
    expect(await registry.tags()).toEqual(['one', 'two'])
  })

  test('a tag that was pushed again is restored by digest, and what it named can be restored in turn', async ({
    world,
  }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const [first, second] = [await registry.image('it', { layer: 'a' }), await registry.image('it', { layer: 'b' })]
    const { id } = await repositoryOf(world, project)
    const restore = (digest?: string) => world.root.post(at(project, `/${id}/tags/it/restore`), { digest })
    expect((await restore()).status).toBe(409)
    expect((await restore(first)).json.digest).toBe(first)
    expect((await restore(second)).json.digest).toBe(second)
    expect((await restore(digestOf('none'))).status).toBe(404)
    expect((await restore('nonsense')).status).toBe(400)
    expect((await world.root.post(at(project, `/${id}/tags/never/restore`))).status).toBe(404)
  })

  test('a manifest that a client deleted is restored with its blobs by one of its tags', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const digest = await registry.image('one', { layer: 'precious' })
    await registry.send('DELETE', `manifests/${digest}`)
    await registry.send('DELETE', `blobs/${digestOf('precious')}`)
    expect((await registry.send('GET', `blobs/${digestOf('precious')}`)).status).toBe(404)
    const { id } = await repositoryOf(world, project)
    expect((await world.root.post(at(project, `/${id}/tags/one/restore`))).json.digest).toBe(digest)
    expect((await registry.send('GET', `manifests/${digest}`)).status).toBe(200)
    expect((await registry.send('GET', `blobs/${digestOf('precious')}`)).text).toBe('precious')
  })

  test('a restored index has the images of the indexes in it', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    const push = async (tag: string, body: string, type: string) => {
      expect((await registry.putManifest(tag, body, type)).status).toBe(201)
      return { mediaType: type, digest: digestOf(body), size: body.length }
    }
    const indexOf = (manifest: object) => JSON.stringify({ schemaVersion: 2, manifests: [manifest] })
    const image = await push('image', JSON.stringify(await registry.manifestOf()), ociManifest)
    const inner = await push('inner', indexOf(image), ociIndex)
    const outer = await push('outer', indexOf(inner), ociIndex)
    for (const { digest } of [outer, inner, image])
      expect((await registry.send('DELETE', `manifests/${digest}`)).status).toBe(202)
    const { id } = await repositoryOf(world, project)
    expect((await world.root.post(at(project, `/${id}/tags/outer/restore`))).status).toBe(201)
    for (const { digest } of [outer, inner, image])
      expect((await registry.send('GET', `manifests/${digest}`)).status).toBe(200)
  })

  test('what was deleted before the retention time is not restored', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    await registry.image('one')
    const { id } = await repositoryOf(world, project)
    await world.root.delete(at(project, `/${id}/tags/one`))
    await world.settings({ container_registry_retention_days: 0 })
    expect((await world.root.post(at(project, `/${id}/tags/one/restore`))).status).toBe(404)
  })
})
