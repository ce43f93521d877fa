import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  ageImages,
  ageRepository,
  planForFewUploads,
  repeatUpload,
  splitUpload,
  unfinishedUploads,
} from '../../../../test/tables/registry.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { digestOf, imageAt, octets, Registry, repositoryOf } from '../../../edges/registry/testing.ts'
import { collectImages } from '../collection/service.ts'
import { tidyUploads } from './jobs.ts'
import { endCrowdedOut } from './queries.ts'

async function opened(world: World) {
  const [ann, bob] = [await world.user(), await world.user()]
  const project = await world.project({
    members: [
      [ann, 'developer'],
      [bob, 'developer'],
    ],
  })
  const [registry, other] = [await Registry.open(ann, imageAt(project)), await Registry.open(bob, imageAt(project))]
  return { registry, other, project, repository: (await repositoryOf(world, project)).id as number }
}

const begin = async (registry: Registry) => {
  const { headers } = await registry.send('POST', 'blobs/uploads/')
  return { at: headers['location']!, id: headers['docker-upload-uuid']! }
}

test('the oldest unfinished upload of a caller ends with its file when there would be more than a thousand', async ({
  world,
}) => {
  const { registry, other, repository } = await opened(world)
  const folder = join((await world.app.open(null)).registry.folder, 'uploads')
  const files = async () => new Set(await readdir(folder).catch(() => []))
  const oldest = await begin(registry)
  const before = await files()
  await registry.send('PATCH', oldest.at, { body: unique('part'), headers: octets })
  const [file] = [...(await files()).difference(before)]
  const others = await begin(other)
  const second = await begin(registry)
  await repeatUpload(world, oldest.id, 10)
  await repeatUpload(world, second.id, 988)
  expect(await unfinishedUploads(world, repository)).toBe(1001)
  const next = await begin(registry)
  expect(await unfinishedUploads(world, repository)).toBe(1001)
  expect((await registry.send('GET', oldest.at)).status).toBe(404)
  await expect.poll(async () => (await files()).has(file!)).toBe(false)
  for (const { at } of [next, others]) expect((await other.send('GET', at)).status).toBe(204)
  const content = unique('layer')
  const done = await registry.send('PUT', `${next.at}?digest=${digestOf(content)}`, { body: content, headers: octets })
  expect(done.status).toBe(201)
})

test('the oldest unfinished uploads of a caller end when all have more bytes than ten layers of the largest size', async ({
  world,
}) => {
  const { registry, other } = await opened(world)
  await world.settings({ container_registry_max_layer_size: 1 })
  try {
    const uploads: { at: string }[] = []
    for (const by of [registry, registry, other]) {
      const upload = await begin(by)
      await splitUpload(world, upload.id, 5 * 1024 * 1024, 1)
      uploads.push(upload)
    }
    const last = await begin(registry)
    const states = () => Promise.all([...uploads, last].map(async ({ at }) => (await registry.send('GET', at)).status))
    expect(await states()).toEqual([204, 204, 204, 204])
    expect((await registry.send('PATCH', last.at, { body: 'x', headers: octets })).status).toBe(202)
    expect(await states()).toEqual([404, 204, 204, 204])
  } finally {
    await world.settings({ container_registry_max_layer_size: 10_240 })
  }
})

test('a project has at most four times as many unfinished uploads as one caller', async ({ world }) => {
  const { registry, repository } = await opened(world)
  const first = await begin(registry)
  await repeatUpload(world, first.id, 4_100, 'user 0')
  const last = await begin(registry)
  expect(await unfinishedUploads(world, repository)).toBe(4_000)
  expect((await registry.send('GET', last.at)).status).toBe(204)
})

test('uploads that crowd others out end in time where the plan was made for a few', async ({ world }) => {
  const { registry, repository } = await opened(world)
  const { id } = await begin(registry)
  const upload = { id, repository_id: repository }
  const room = { uploads: 4_000, bytes: Number.MAX_SAFE_INTEGER }
  const ctx = await world.app.open(null)
  await ctx.transaction(async (tx) => {
    await planForFewUploads(world, tx)
    const end = () => endCrowdedOut(tx, upload, 'user 1', { ofCaller: room, ofProject: room })
    // A plan is kept after some executions.
    for (let times = 0; times < 5; times++) await end()
    await repeatUpload(world, id, 9_000, 'user 0')
    await end()
  })
  expect(await unfinishedUploads(world, repository)).toBe(4_001)
})

test('a repository into which nothing was pushed is gone a day later, once its last upload has ended', async ({
  world,
}) => {
  const ctx = await world.app.open(null)
  const { registry, project, repository } = await opened(world)
  const full = await Registry.open(world.root, imageAt(project, 'full'))
  await full.push(unique('layer'))
  const { id: fullId } = await repositoryOf(world, project, 'full')
  const collect = () => collectImages(ctx, { retentionDays: 7, graceHours: 24 })
  const listed = async () =>
    (await world.root.get(`/projects/${project.id}/registry/repositories`)).json.map(({ id }: { id: number }) => id)
  await collect()
  await begin(registry)
  for (const id of [repository, fullId]) await ageRepository(world, id, '25 hours')
  await collect()
  expect(await listed()).toEqual([repository, fullId])
  await ageImages(world, repository, '25 hours')
  await tidyUploads(ctx, new Date(0))
  // One that is not new has been used.
  await ageRepository(world, repository, '8 days')
  await collect()
  expect(await listed()).toEqual([repository, fullId])
  await ageRepository(world, repository, '25 hours')
  await collect()
  expect(await listed()).toEqual([fullId])
  const content = unique('later')
  await registry.push(content)
  expect((await registry.send('GET', `blobs/${digestOf(content)}`)).text).toBe(content)
})
