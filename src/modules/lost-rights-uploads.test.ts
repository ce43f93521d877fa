import { FormData } from 'undici'
import { expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { type Answer, type Client, type TestProject, test, unique, type World } from '../../test/world.ts'
import { digestOf, imageAt, octets, Registry, repositoryOf } from '../edges/registry/testing.ts'
import { lockProject } from './projects/index.ts'
import { holdLock } from './pushes/large-files/lock-queries.ts'
import { basic, lfs, oidOf } from './pushes/large-files/testing.ts'
import { countBlobs, hideBlob } from './registry/blobs/queries.ts'
import { lockUnusedLinks } from './registry/collection/queries.ts'
import { lockRepository } from './registry/images/queries.ts'
import type { ContentDigest } from './registry/names/digests.ts'

const remove = (world: World, { id }: Client, project: TestProject): Promise<Answer> =>
  world.root.delete(`/projects/${project.id}/members/${id}`)

const contentDigest = (content: string) => digestOf(content).replace('sha256:', '') as ContentDigest

/** An upload by a member, not completed, of a layer that the repository has: its completion waits for the row. */
async function begunUpload(world: World, project: TestProject, member: Client) {
  const [root, registry] = [
    await Registry.open(world.root, imageAt(project)),
    await Registry.open(member, imageAt(project)),
  ]
  const content = unique('layer')
  const digest = await root.push(content)
  const { id } = await repositoryOf(world, project)
  const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
  await registry.send('PATCH', at, { body: content, headers: octets })
  return { id, root, registry, content, digest, at }
}

test('401 to the completion of a layer, and no layer, for a member who was removed while the completion waited', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const { id, root, registry, content, digest, at } = await begunUpload(world, project, ann)
  const answer = await answerDuring(
    world,
    () => registry.send('PUT', `${at}?digest=${digest}`),
    () => remove(world, ann, project),
    (tx) => hideBlob(tx, id, contentDigest(content)),
  )
  expect(answer.status).toBe(401)
  expect((await root.send('HEAD', `blobs/${digest}`)).status).toBe(404)
})

test.for([
  ['from', 202],
  ['into', 401],
] as const)(
  'a layer is not mounted %s a project whose member was removed while the mount waited',
  async ([where, status], { world }) => {
    const ann = await world.user()
    const [source, target] = [
      await world.project({ members: [[ann, 'developer']] }),
      await world.project({ members: [[ann, 'developer']] }),
    ]
    const digest = await (await Registry.open(world.root, imageAt(source))).push(unique('layer'))
    const { id } = await repositoryOf(world, source)
    const registry = await Registry.open(ann, imageAt(target), 'pull,push', [imageAt(source)])
    const answer = await answerDuring(
      world,
      () => registry.send('POST', `blobs/uploads/?mount=${digest}&from=${imageAt(source)}`),
      () => remove(world, ann, where === 'from' ? source : target),
      (tx) => lockUnusedLinks(tx, 0, { repository_id: id, digest: '' as ContentDigest }, 1),
    )
    expect(answer.status).toBe(status)
    const root = await Registry.open(world.root, imageAt(target))
    expect((await root.send('HEAD', `blobs/${digest}`)).status).toBe(404)
  },
)

test.for(['PUT', 'DELETE', 'DELETE of a layer', 'DELETE by the API', 'bulk DELETE', 'DELETE of all'] as const)(
  'a %s of an image is refused to a member who was removed while it waited for the repository',
  async (change, { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const registry = await Registry.open(ann, imageAt(project))
    const root = await Registry.open(world.root, imageAt(project))
    await root.image('v1')
    const loose = await root.push(unique('loose layer'))
    const manifest = JSON.stringify(await root.manifestOf({ layer: unique('next') }))
    const { id } = await repositoryOf(world, project)
    const tag = `/projects/${project.id}/registry/repositories/${id}/tags/v1`
    const requests = {
      PUT: () => registry.putManifest('v2', manifest),
      DELETE: () => registry.send('DELETE', 'manifests/v1'),
      'DELETE of a layer': () => registry.send('DELETE', `blobs/${loose}`),
      'DELETE by the API': () => ann.delete(tag),
      'bulk DELETE': () => ann.delete(`${tag.slice(0, -'/v1'.length)}?name_regex=v1`),
      'DELETE of all': () => ann.delete(tag.slice(0, -'/tags/v1'.length)),
    }
    const answer = await answerDuring(
      world,
      requests[change],
      () => remove(world, ann, project),
      (tx) => lockRepository(tx, id),
    )
    expect([401, 404]).toContain(answer.status)
    expect(await root.tags()).toEqual(['v1'])
    expect((await root.send('HEAD', `blobs/${loose}`)).status).toBe(200)
    expect((await world.root.get(`/registry/repositories/${id}`)).json.status).toBe(null)
  },
)

test('401 to the completion of a layer for a project that was renamed meanwhile, and whose path another project has', async ({
  world,
}) => {
  const ann = await world.user()
  const group = await world.group()
  const project = await world.project({ group, members: [[ann, 'developer']] })
  const { id, registry, content, digest, at } = await begunUpload(world, project, ann)
  const path = unique('renamed')
  const answer = await answerDuring(
    world,
    () => registry.send('PUT', `${at}?digest=${digest}`),
    async () => {
      await world.root.put(`/projects/${project.id}`, { path })
      await remove(world, ann, project)
      const other = await world.root.post('/projects', {
        name: unique('other'),
        path: project.path,
        namespace_id: group.id,
      })
      return world.root.post(`/projects/${other.json.id}/members`, { user_id: ann.id, access_level: 30 })
    },
    (tx) => hideBlob(tx, id, contentDigest(content)),
  )
  expect(answer.status).toBe(401)
  const renamed = await Registry.open(world.root, `${group.full_path}/${path}`.toLowerCase())
  expect((await renamed.send('HEAD', `blobs/${digest}`)).status).toBe(404)
})

test('403 to an LFS file, which is not stored, of a member who was removed while the upload waited', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const content = unique('large file')
  const path = `//${project.full_path}.git/info/lfs/objects/${oidOf(content)}/${content.length}`
  const answer = await answerDuring(
    world,
    () => ann.send('PUT', path, { headers: basic(ann), body: content }),
    () => remove(world, ann, project),
    (tx) => countBlobs(tx, project.id),
  )
  expect(answer.status).toBe(403)
  const asked = { operation: 'download', objects: [{ oid: oidOf(content), size: content.length }] }
  const found = await lfs(world.root, project, 'POST', 'objects/batch', { json: asked })
  expect(found.json.objects[0].error.code).toBe(404)
})

test('403 to the removal of an LFS lock by a member who was removed while the removal waited', async ({ world }) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const { lock } = (await lfs(ann, project, 'POST', 'locks', { json: { path: 'picture.psd' } })).json
  const answer = await answerDuring(
    world,
    () => lfs(ann, project, 'POST', `locks/${lock.id}/unlock`, { json: {} }),
    () => remove(world, ann, project),
    (tx) => holdLock(tx, project.id, Number(lock.id)),
  )
  expect(answer.status).toBe(403)
  expect((await lfs(world.root, project, 'GET', 'locks')).json.locks).toMatchObject([{ id: lock.id }])
})

test('403 to the removal by force of a lock of another user, for a maintainer who was demoted while it waited', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const project = await world.project({
    members: [
      [ann, 'maintainer'],
      [bob, 'developer'],
    ],
  })
  const { lock } = (await lfs(bob, project, 'POST', 'locks', { json: { path: 'picture.psd' } })).json
  const answer = await answerDuring(
    world,
    () => lfs(ann, project, 'POST', `locks/${lock.id}/unlock`, { json: { force: true } }),
    () => world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 30 }),
    (tx) => holdLock(tx, project.id, Number(lock.id)),
  )
  expect(answer.status).toBe(403)
  expect((await lfs(world.root, project, 'GET', 'locks')).json.locks).toMatchObject([{ id: lock.id }])
})

test('403 to a file for a project, which is not stored, of a user who was blocked while the upload waited', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'developer']] })
  const form = new FormData()
  form.set('file', new Blob(['content']), 'notes.txt')
  const answer = await answerDuring(
    world,
    () => ann.send('POST', `/projects/${project.id}/uploads`, { body: form }),
    () => world.root.post(`/users/${ann.id}/block`),
    (tx) => lockProject(tx, project.id),
  )
  expect(answer.status).toBe(403)
  expect((await world.root.get(`/projects/${project.id}/uploads`)).json).toEqual([])
})
