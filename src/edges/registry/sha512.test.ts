import { describe, expect } from 'vitest'
import { ageImages } from '../../../test/tables/registry.ts'
import { test, unique, type World } from '../../../test/world.ts'
import { blobCheck } from '../../blobs/check.ts'
import { collectBlobs } from '../../modules/administration/blob-collection/service.ts'
import { checkLayers } from '../../modules/registry/blobs/check.ts'
import { collectImages } from '../../modules/registry/collection/service.ts'
import {
  digestOf,
  imageAt,
  imageConfig,
  layerType,
  ociIndex,
  ociManifest,
  octets,
  Registry,
  repositoryOf,
} from './testing.ts'

/*
 * The cases "sha512 blobs" and "sha512" of the conformance tests of the OCI distribution specification 1.1: clients choose SHA-512,
 * while the blob store names the same bytes by SHA-256.
 */

const sha512Of = (content: string) => digestOf(content, 'sha512')

const opened = async (world: World) => {
  const project = await world.project()
  return { project, registry: await Registry.open(world.root, imageAt(project)) }
}

/** Pushes the blobs of an image, and returns its manifest; all digests are SHA-512. */
async function manifestOf(registry: Registry, layer: string, more: object = {}): Promise<string> {
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', created: '2024-01-02T03:04:05Z' })
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: ociManifest,
    config: { mediaType: imageConfig, digest: await registry.push(config, 'sha512'), size: config.length },
    layers: [{ mediaType: layerType, digest: await registry.push(layer, 'sha512'), size: layer.length }],
    ...more,
  })
}

describe('sha512 blobs', () => {
  test('404 for a blob that does not exist, and 400 for a digest of another length', async ({ world }) => {
    const { registry } = await opened(world)
    const missing = sha512Of('nothing has these bytes')
    for (const method of ['GET', 'HEAD', 'DELETE'])
      expect((await registry.send(method, `blobs/${missing}`)).status).toBe(404)
    expect((await registry.send('GET', `blobs/${missing}0`)).json.errors[0].code).toBe('DIGEST_INVALID')
    expect((await registry.send('GET', `blobs/sha512:${'0'.repeat(64)}`)).json.errors[0].code).toBe('DIGEST_INVALID')
    expect((await registry.send('GET', `blobs/sha256:${'0'.repeat(128)}`)).json.errors[0].code).toBe('DIGEST_INVALID')
  })

  test('post only, post and put, stream, and chunks: the blob is read by its digest, whole and in part', async ({
    world,
  }) => {
    const { registry } = await opened(world)
    const begin = async () => (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    const uploads: ((content: string, digest: string) => Promise<{ status: number }>)[] = [
      (body, digest) => registry.send('POST', `blobs/uploads/?digest=${digest}`, { body, headers: octets }),
      async (body, digest) => registry.send('PUT', `${await begin()}?digest=${digest}`, { body, headers: octets }),
      async (body, digest) => {
        const at = await begin()
        await registry.send('PATCH', at, { body, headers: octets })
        return registry.send('PUT', `${at}?digest=${digest}`)
      },
      async (content, digest) => {
        const at = await begin()
        for (let start = 0; start < content.length; start += 10) {
          const body = content.slice(start, start + 10)
          const headers = { ...octets, 'content-range': `${start}-${start + body.length - 1}` }
          await registry.send('PATCH', at, { body, headers })
        }
        return registry.send('PUT', `${at}?digest=${digest}`)
      },
    ]
    for (const upload of uploads) {
      const content = unique('a layer')
      const digest = sha512Of(content)
      expect(await upload(content, digest)).toMatchObject({
        status: 201,
        headers: { location: `/v2/${registry.name}/blobs/${digest}`, 'docker-content-digest': digest },
      })
      expect(await registry.send('GET', `blobs/${digest}`)).toMatchObject({
        status: 200,
        text: content,
        headers: { 'docker-content-digest': digest, 'content-length': String(content.length) },
      })
      expect((await registry.send('HEAD', `blobs/${digest}`)).status).toBe(200)
      expect(await registry.send('GET', `blobs/${digest}`, { headers: { range: 'bytes=2-4' } })).toMatchObject({
        status: 206,
        text: content.slice(2, 5),
      })
      expect((await registry.send('GET', `blobs/${digestOf(content)}`)).status).toBe(404)
      expect((await registry.send('DELETE', `blobs/${digest}`)).status).toBe(202)
      expect((await registry.send('GET', `blobs/${digest}`)).status).toBe(404)
    }
  })

  test('400 for an upload with another digest, in one request or more, and it has ended', async ({ world }) => {
    const { registry } = await opened(world)
    const wrong = sha512Of('other bytes')
    for (const chunks of [['all'], ['in', 'parts'], []]) {
      const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
      for (const body of chunks) await registry.send('PATCH', at, { body, headers: octets })
      expect(await registry.send('PUT', `${at}?digest=${wrong}`)).toMatchObject({
        status: 400,
        json: { errors: [{ code: 'DIGEST_INVALID' }] },
      })
      expect((await registry.send('GET', at)).status).toBe(404)
    }
    expect((await registry.send('GET', `blobs/${wrong}`)).status).toBe(404)
  })

  test('a blob is mounted from another repository, and readable there', async ({ world }) => {
    const { registry } = await opened(world)
    const content = unique('mounted')
    const digest = await registry.push(content, 'sha512')
    const target = await Registry.open(world.root, imageAt(await world.project()), 'pull,push', [registry.name])
    expect((await target.send('POST', `blobs/uploads/?mount=${digest}&from=${registry.name}`)).status).toBe(201)
    expect((await target.send('GET', `blobs/${digest}`)).text).toBe(content)
  })
})

describe('sha512 manifests', () => {
  test('an image and an index are pushed and read by their digests, and listed as referrers', async ({ world }) => {
    const { project, registry } = await opened(world)
    const image = await manifestOf(registry, unique('layer'))
    const child = { mediaType: ociManifest, digest: sha512Of(image), size: image.length }
    const index = JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests: [child] })
    const about = await manifestOf(registry, unique('signature'), { subject: child })
    expect((await registry.putManifest(sha512Of(index), index, ociIndex)).status).toBe(404)
    for (const [manifest, type] of [
      [image, ociManifest],
      [index, ociIndex],
      [about, ociManifest],
    ] as const) {
      const digest = sha512Of(manifest)
      expect(await registry.putManifest(digest, manifest, type)).toMatchObject({
        status: 201,
        headers: { location: `/v2/${registry.name}/manifests/${digest}`, 'docker-content-digest': digest },
      })
      expect(await registry.send('GET', `manifests/${digest}`)).toMatchObject({ status: 200, text: manifest })
      expect((await registry.send('HEAD', `manifests/${digest}`)).headers['docker-content-digest']).toBe(digest)
    }
    expect((await registry.putManifest(sha512Of('other'), image)).json.errors[0].code).toBe('DIGEST_INVALID')
    const referrers = await registry.send('GET', `referrers/${child.digest}`)
    expect(JSON.parse(referrers.text).manifests).toEqual([
      { mediaType: ociManifest, digest: sha512Of(about), size: about.length, artifactType: imageConfig },
    ])
    expect((await registry.send('DELETE', `manifests/${child.digest}`)).status).toBe(405)
    // By a tag, the manifest has a SHA-256 digest, as everywhere else.
    expect((await registry.putManifest('tagged', image)).headers['docker-content-digest']).toBe(digestOf(image))
    const { id } = await repositoryOf(world, project)
    const path = `/projects/${project.id}/registry/repositories/${id}/tags/tagged`
    expect((await world.root.get(path)).json).toMatchObject({
      digest: digestOf(image),
      revision: JSON.parse(image).config.digest.slice('sha512:'.length),
      created_at: '2024-01-02T03:04:05.000Z',
    })
  })

  test('the bytes of its layers stay stored while the image exists, are checked, and counted once', async ({
    world,
  }) => {
    const { project, registry } = await opened(world)
    const layer = unique('layer')
    const image = await manifestOf(registry, layer)
    await registry.putManifest('tagged', image)
    await registry.push(layer)
    const ctx = await world.app.open(null)
    const { id } = await repositoryOf(world, project)
    await ageImages(world, id, '30 days')
    await collectImages(ctx, { retentionDays: 7, graceHours: 24 })
    expect((await registry.send('GET', `blobs/${digestOf(layer)}`)).status).toBe(404)
    await collectBlobs(ctx, new Date(Date.now() + 60_000))
    const { config, layers } = JSON.parse(image)
    expect((await registry.send('GET', `blobs/${layers[0].digest}`)).text).toBe(layer)
    expect(
      (await checkLayers(ctx.db, blobCheck(ctx.blobs))).filter((problem) =>
        problem.startsWith(`project ${project.id}:`),
      ),
    ).toEqual([])
    await registry.push(layer)
    await world.runJobs()
    const size = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.container_registry_size
    await expect.poll(size).toBe(config.size + layer.length)
  })
})
