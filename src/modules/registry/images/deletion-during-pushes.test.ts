import { expect } from 'vitest'
import { lockRow, waitingFor } from '../../../../test/tables/instance.ts'
import { type Answer, type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { digestOf, imageAt, ociIndex, octets, Registry, repositoryOf } from '../../../edges/registry/testing.ts'
import { inRepository } from './push.ts'
import { hideRepository } from './queries.ts'

/** The answers to pushes that arrive while the request to delete the repository waits for a lock, which it gets first. */
async function pushesDuringDeletion(
  world: World,
  project: TestProject,
  id: number,
  pushes: readonly (() => Promise<Answer>)[],
): Promise<Answer[]> {
  const { deleted, pushed } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'container_repositories', id, 'no key update')
    const deleted = world.root.delete(`/projects/${project.id}/registry/repositories/${id}`)
    await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
    let answered = 0
    const pushed = pushes.map(async (push) => {
      const answer = await push()
      answered++
      return answer
    })
    await expect
      .poll(async () => answered + (await waitingFor(world, 'lock')).length)
      .toBeGreaterThanOrEqual(1 + pushes.length)
    // In an object, because the transaction must end before the requests can.
    return { deleted, pushed }
  })
  expect((await deleted).status).toBe(202)
  return Promise.all(pushed)
}

async function prepare(world: World) {
  const project = await world.project()
  const registry = await Registry.open(world.root, imageAt(project))
  await registry.image('old')
  const { id } = await repositoryOf(world, project)
  return { project, registry, id: id as number }
}

/** Afterwards the deleted repository is in the bin with its image. */
async function runDeletion(world: World, project: TestProject, id: number): Promise<void> {
  await world.runJobs()
  await expect.poll(() => world.jobs(`delete_container_repository:${id}`)).toEqual([])
  expect((await world.root.get(`/projects/${project.id}/registry/deleted_repositories?tags=true`)).json).toMatchObject([
    { id, tags: [{ name: 'old' }] },
  ])
}

test('a manifest that is accepted after the deletion of its repository is in a new one', async ({ world }) => {
  const { project, registry, id } = await prepare(world)
  const index = { schemaVersion: 2, mediaType: ociIndex, manifests: [] }
  const [answer] = await pushesDuringDeletion(world, project, id, [() => registry.putManifest('new', index, ociIndex)])
  expect(answer!.status).toBe(201)
  await runDeletion(world, project, id)
  expect(await registry.tags()).toEqual(['new'])
})

test('an image whose layers went with the repository is refused, not lost', async ({ world }) => {
  const { project, registry, id } = await prepare(world)
  const manifest = await registry.manifestOf({ layer: unique('layer') })
  const [answer] = await pushesDuringDeletion(world, project, id, [() => registry.putManifest('new', manifest)])
  expect([answer!.status, answer!.json.errors[0].code]).toEqual([404, 'MANIFEST_BLOB_UNKNOWN'])
  expect((await registry.image('new')).length).toBeGreaterThan(0)
  await runDeletion(world, project, id)
  expect(await registry.tags()).toEqual(['new'])
})

test('uploads that begin after the deletion of their repository are in one new repository', async ({ world }) => {
  const { project, id } = await prepare(world)
  // Of one caller, a single statement waits at a time.
  const callers = [await world.user({ admin: true }), await world.user({ admin: true })]
  const registries = await Promise.all(
    [world.root, ...callers].map((caller) => Registry.open(caller, imageAt(project), 'pull,push')),
  )
  const begun = await pushesDuringDeletion(
    world,
    project,
    id,
    registries.map((of) => () => of.send('POST', 'blobs/uploads/')),
  )
  expect(begun.map(({ status }) => status)).toEqual([202, 202, 202])
  await runDeletion(world, project, id)
  for (const [index, { headers }] of begun.entries()) {
    const registry = registries[index]!
    const content = unique('layer')
    const at = `${headers['location']}?digest=${digestOf(content)}`
    expect((await registry.send('PUT', at, { body: content, headers: octets })).status).toBe(201)
    expect((await registry.send('HEAD', `blobs/${digestOf(content)}`)).status).toBe(200)
  }
})

test.for(['upload', 'mount'] as const)(
  'a layer that is accepted after the deletion of its repository is in a new one, by %s',
  async (way, { world }) => {
    const { project, registry, id } = await prepare(world)
    const content = unique('layer')
    const digest = digestOf(content)
    const source = await Registry.open(world.root, imageAt(project, 'source'), 'pull,push')
    if (way === 'mount') await source.push(content)
    const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']
    const push = {
      upload: () => registry.send('PUT', `${at}?digest=${digest}`, { body: content, headers: octets }),
      mount: () => registry.send('POST', `blobs/uploads/?mount=${digest}`),
    }
    const [answer] = await pushesDuringDeletion(world, project, id, [push[way]])
    expect(answer!.status).toBe(201)
    await runDeletion(world, project, id)
    expect((await registry.send('HEAD', `blobs/${digest}`)).status).toBe(200)
  },
)

test('layers of a repository are pushed while other pushes to it are not complete', async ({ world }) => {
  const { project, registry } = await prepare(world)
  const ctx = await world.app.open(null)
  await inRepository(ctx, { project, name: '' }, async () => {
    const content = unique('layer')
    expect(await registry.push(content)).toBe(digestOf(content))
  })
})

test.for(['a manifest', 'a layer', 'a tag', 'a tag to restore', 'matching tags'] as const)(
  '404 for %s in a repository that is deleted while the request waits',
  async (what, { world }) => {
    const { project, registry, id } = await prepare(world)
    const loose = await registry.push(unique('loose layer'))
    await registry.image('gone')
    const at = `/projects/${project.id}/registry/repositories/${id}`
    await world.root.delete(`${at}/tags/gone`)
    await world.root.delete(at)
    const requests = {
      'a manifest': () => registry.send('DELETE', 'manifests/old'),
      'a layer': () => registry.send('DELETE', `blobs/${loose}`),
      'a tag': () => world.root.delete(`${at}/tags/old`),
      'a tag to restore': () => world.root.post(`${at}/tags/gone/restore`),
      'matching tags': () => world.root.delete(`${at}/tags?name_regex=.*`),
    }
    const { waiting } = await world.db.transaction(async (tx) => {
      await hideRepository(tx, id)
      const waiting = requests[what]()
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      return { waiting }
    })
    expect((await waiting).status).toBe(404)
    await runDeletion(world, project, id)
  },
)
