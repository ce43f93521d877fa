import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { ageImages, imageRows, misstateLayer } from '../../../../test/tables/registry.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { blobCheck } from '../../../blobs/check.ts'
import { digestOf, imageAt, ociIndex, ociManifest, Registry, repositoryOf } from '../../../edges/registry/testing.ts'
import { collectBlobs } from '../../administration/blob-collection/service.ts'
import { checkLayers } from '../blobs/check.ts'
import { deleteContainerRepository } from '../images/jobs.ts'
import { oldFiles } from '../uploads/files.ts'
import { tidyUploads } from '../uploads/jobs.ts'
import { collectImages } from './service.ts'

const ages = { retentionDays: 7, graceHours: 24 }

const collect = async (world: World) => collectImages(await world.app.open(null), ages)

const opened = async (world: World) => {
  const project = await world.project()
  const registry = await Registry.open(world.root, imageAt(project))
  const { id } = await repositoryOf(world, project)
  return { project, registry, id: id as number, tagsAt: `/projects/${project.id}/registry/repositories/${id}/tags` }
}

const descriptorOf = async (registry: Registry, reference: string) => {
  const { headers } = await registry.send('HEAD', `manifests/${reference}`)
  return { mediaType: ociManifest, digest: headers['docker-content-digest'], size: Number(headers['content-length']) }
}

describe('collection of container images', () => {
  test('tagged images, their indexes and what is about them stay, however old', async ({ world }) => {
    const { registry, id } = await opened(world)
    const manifests = []
    for (const arch of ['amd64', 'arm64']) {
      await registry.image(arch, { layer: unique(arch) })
      manifests.push(await descriptorOf(registry, arch))
    }
    await registry.putManifest('multi', { schemaVersion: 2, manifests }, ociIndex)
    for (const arch of ['amd64', 'arm64']) await registry.send('DELETE', `manifests/${arch}`)
    const signature = JSON.stringify(await registry.manifestOf({ subject: await descriptorOf(registry, 'multi') }))
    await registry.putManifest(digestOf(signature), signature)
    const before = await imageRows(world, id)
    await ageImages(world, id, '30 days')
    await collect(world)
    expect(await imageRows(world, id)).toEqual({ ...before, history: 0 })
    for (const { digest } of manifests) expect((await registry.send('GET', `manifests/${digest}`)).status).toBe(200)
  })

  test('an untagged image is deleted with its layers after the retention time, an index with its images', async ({
    world,
  }) => {
    const { registry, id } = await opened(world)
    const shared = unique('shared')
    await registry.image('stays', { layer: shared })
    const image = JSON.stringify(await registry.manifestOf({ layer: unique('gone') }))
    await registry.putManifest(digestOf(image), image)
    const child = { mediaType: ociManifest, digest: digestOf(image), size: image.length }
    await registry.putManifest('multi', { schemaVersion: 2, manifests: [child] }, ociIndex)
    await registry.send('DELETE', 'manifests/multi')
    await collect(world)
    expect((await imageRows(world, id)).manifests).toBe(3)
    await ageImages(world, id, '6 days')
    await collect(world)
    expect((await imageRows(world, id)).manifests).toBe(3)
    await ageImages(world, id, '8 days')
    await collect(world)
    expect(await imageRows(world, id)).toEqual({ manifests: 1, blobs: 2, tags: 1, history: 0 })
    expect((await registry.send('GET', `blobs/${digestOf(shared)}`)).text).toBe(shared)
  })

  test('a layer without a manifest stays for the grace period, and longer if a pushing client finds it', async ({
    world,
  }) => {
    const { registry, id } = await opened(world)
    const [lost, found] = [await registry.push(unique('lost')), await registry.push(unique('found'))]
    await collect(world)
    expect((await imageRows(world, id)).blobs).toBe(2)
    await ageImages(world, id, '25 hours')
    expect((await registry.send('HEAD', `blobs/${found}`)).status).toBe(200)
    await collect(world)
    expect([await registry.send('HEAD', `blobs/${lost}`), await registry.send('HEAD', `blobs/${found}`)]).toMatchObject(
      [{ status: 404 }, { status: 200 }],
    )
  })

  test('deleted repositories are deleted for good after the retention time', async ({ world }) => {
    const { project, registry, id } = await opened(world)
    await registry.image('one')
    await world.root.delete(`/projects/${project.id}/registry/repositories/${id}`)
    await world.runJobs()
    await expect.poll(() => repositoryOf(world, project)).toBeUndefined()
    await collect(world)
    expect((await imageRows(world, id)).tags).toBe(1)
    await ageImages(world, id, '8 days')
    await collect(world)
    expect(await imageRows(world, id)).toEqual({ manifests: 0, blobs: 0, tags: 0, history: 0 })
  })

  test('the size of a project is counted again also if the collection is interrupted after a deletion', async ({
    world,
  }) => {
    const { project, registry, id } = await opened(world)
    await registry.image('v1', { layer: unique('gone') })
    await world.root.delete(`/projects/${project.id}/registry/repositories/${id}`)
    const ctx = await world.app.open(null)
    await deleteContainerRepository.run({ repositoryId: id }, ctx)
    await ageImages(world, id, '30 days')
    const queued = `refresh_registry_size:${project.id}`
    await world.takeJobs(queued)
    let transactions = 0
    const interrupted: typeof ctx.transaction = (work) => {
      if (++transactions > 1) throw new Error('interrupted')
      return ctx.transaction(work)
    }
    await expect(collectImages({ ...ctx, transaction: interrupted }, ages)).rejects.toThrow('interrupted')
    expect(await world.takeJobs(queued)).toHaveLength(1)
  })

  test('bytes are deleted once no repository links them', async ({ world }) => {
    const ctx = await world.app.open(null)
    const [one, two] = [await opened(world), await opened(world)]
    const content = unique('in both')
    const digest = (await one.registry.push(content)).slice('sha256:'.length) as Digest
    await two.registry.push(content)
    const later = () => new Date(Date.now() + 60_000)
    await ageImages(world, one.id, '25 hours')
    await collect(world)
    await collectBlobs(ctx, later())
    expect(await ctx.blobs.has(digest)).toBe(true)
    await ageImages(world, two.id, '25 hours')
    await collect(world)
    await collectBlobs(ctx, later())
    expect(await ctx.blobs.has(digest)).toBe(false)
  })

  test('no push fails or loses a layer while images are collected', async ({ world }) => {
    const { registry, id } = await opened(world)
    let isGoing = true
    let pushed = 0
    const collecting = (async () => {
      while (isGoing) {
        const before = pushed
        await ageImages(world, id, '30 days')
        await collect(world)
        // A push in its progress has then lost its layers at most as often as another one has ended.
        while (isGoing && pushed === before) await setTimeout(1)
      }
    })()
    const rounds = 8
    const layers = Array.from({ length: 4 }, (_, at) => unique(`raced ${at}`))
    const failed: string[] = []
    await Promise.all(
      layers.map(async (layer, at) => {
        for (let round = 0; round < rounds; round++) {
          // As a container engine does: a client that lost a layer uploads it again.
          for (let attempt = 0; ; attempt++) {
            const manifest = await registry.manifestOf({ layer, annotations: { round: String(round) } })
            const { status, text } = await registry.putManifest(`tag${at}`, manifest)
            if (status === 201) break
            if (status !== 404 || attempt > layers.length * rounds) {
              failed.push(text)
              break
            }
          }
          pushed++
        }
      }),
    )
    isGoing = false
    await collecting
    expect(failed).toEqual([])
    for (const [at, layer] of layers.entries()) {
      const { layers: named } = JSON.parse((await registry.send('GET', `manifests/tag${at}`)).text)
      expect((await registry.send('GET', `blobs/${named[0].digest}`)).text).toBe(layer)
    }
  })
})

test('checkLayers reports missing and truncated layers', async ({ world }) => {
  const ctx = await world.app.open(null)
  const { project, registry, id } = await opened(world)
  const [gone, cut] = [await registry.push(unique('gone')), await registry.push(unique('cut'))].map((digest) =>
    digest.slice('sha256:'.length),
  ) as [Digest, Digest]
  await ctx.blobs.delete(gone)
  await misstateLayer(world, cut)
  const found = (await checkLayers(ctx.db, blobCheck(ctx.blobs))).filter((line) =>
    line.startsWith(`project ${project.id}:`),
  )
  expect(found).toHaveLength(2)
  expect(found).toContain(`project ${project.id}: its container layer ${gone} is missing`)
  expect(found.join()).toMatch(new RegExp(`its container layer ${cut} has \\d+ bytes instead of \\d+`))
  await ageImages(world, id, '25 hours')
  await collect(world)
})

test('a layer whose bytes are lost is unknown to clients until one pushes it again', async ({ world }) => {
  const ctx = await world.app.open(null)
  const { registry } = await opened(world)
  const content = unique('lost bytes')
  const digest = await registry.push(content)
  await ctx.blobs.delete(digest.slice('sha256:'.length) as Digest)
  for (const method of ['HEAD', 'GET'])
    expect(await registry.send(method, `blobs/${digest}`)).toMatchObject({ status: 404 })
  await registry.push(content)
  expect(await registry.send('GET', `blobs/${digest}`)).toMatchObject({ status: 200, text: content })
})

test('idle uploads end, and files without an upload are removed', async ({ world }) => {
  const { registry, id } = await opened(world)
  const ctx = await world.app.open(null)
  const begin = async () => {
    const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    await registry.send('PATCH', at, { body: unique('part') })
    return at
  }
  const idle = await begin()
  await ageImages(world, id, '25 hours')
  const active = await begin()
  const later = new Date(Date.now() + 60_000)
  expect(await tidyUploads(ctx, later)).toBeGreaterThanOrEqual(1)
  expect((await registry.send('GET', idle)).status).toBe(404)
  expect((await registry.send('GET', active)).status).toBe(204)
  expect(await tidyUploads(ctx, later)).toBe(0)
  expect((await oldFiles(ctx.registry.folder, later)).length).toBeGreaterThan(0)
  expect(await ctx.blobs.put(Readable.from([Buffer.from('x')]))).toBeDefined()
})
