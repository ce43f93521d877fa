import { createReadStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test, unique } from '../../../test/world.ts'
import { digestOf, imageAt, missing, ociIndex, ociManifest, octets, Registry } from './testing.ts'

// The cases "push" of the conformance tests of the OCI distribution specification 1.1, in their order.

describe('push', () => {
  test('a blob is streamed with PATCH and completed with PUT', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const content = unique('streamed')
    const begun = await registry.send('POST', 'blobs/uploads/')
    expect(begun).toMatchObject({ status: 202, headers: { range: '0-0', 'docker-upload-uuid': expect.any(String) } })
    const sent = await registry.send('PATCH', begun.headers['location']!, { body: content, headers: octets })
    expect(sent).toMatchObject({ status: 202, headers: { range: `0-${content.length - 1}` } })
    const digest = digestOf(content)
    expect(await registry.send('PUT', `${sent.headers['location']}?digest=${digest}`)).toMatchObject({
      status: 201,
      headers: { location: `/v2/${registry.name}/blobs/${digest}`, 'docker-content-digest': digest },
    })
    expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(content)
  })

  test('a blob is uploaded with one POST', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const content = unique('at once')
    const digest = digestOf(content)
    expect(
      await registry.send('POST', `blobs/uploads/?digest=${digest}`, { body: content, headers: octets }),
    ).toMatchObject({ status: 201, headers: { location: `/v2/${registry.name}/blobs/${digest}` } })
    expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(content)
  })

  test('a blob is uploaded with POST and PUT', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const content = unique('monolithic')
    const digest = await registry.push(content)
    expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(content)
  })

  test('a blob of no bytes is uploaded', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const digest = await registry.push('')
    expect(await registry.send('GET', `blobs/${digest}`)).toMatchObject({ status: 200, text: '' })
  })

  test('a blob is uploaded in chunks, which must be in order', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const [one, two, three] = [unique('first'), unique('second'), unique('third')]
    const begun = await registry.send('POST', 'blobs/uploads/')
    const at = begun.headers['location']!
    const range = (start: number, text: string) => ({
      ...octets,
      'content-range': `${start}-${start + text.length - 1}`,
    })
    expect(await registry.send('PATCH', at, { body: two, headers: range(one.length, two) })).toMatchObject({
      status: 416,
      headers: { location: at, range: '0-0' },
    })
    const first = await registry.send('PATCH', at, { body: one, headers: range(0, one) })
    expect(first).toMatchObject({ status: 202, headers: { range: `0-${one.length - 1}` } })
    // A client that did not get the response sends it again, and then asks where the upload is.
    expect((await registry.send('PATCH', at, { body: one, headers: range(0, one) })).status).toBe(416)
    expect(await registry.send('GET', at)).toMatchObject({
      status: 204,
      headers: { range: `0-${one.length - 1}`, location: first.headers['location'] },
    })
    expect((await registry.send('PATCH', at, { body: two, headers: range(one.length, two) })).status).toBe(202)
    expect((await registry.send('PATCH', at, { body: two, headers: { ...octets, 'content-range': 'x' } })).status).toBe(
      416,
    )
    const digest = digestOf(one + two + three)
    const done = await registry.send('PUT', `${at}?digest=${digest}`, {
      body: three,
      headers: range(one.length + two.length, three),
    })
    expect(done).toMatchObject({ status: 201, headers: { location: `/v2/${registry.name}/blobs/${digest}` } })
    expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(one + two + three)
    expect((await registry.send('GET', at)).status).toBe(404)
  })

  test('an upload with another digest is refused and ends', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    for (const chunks of [['all'], ['in', 'parts']]) {
      const begun = await registry.send('POST', 'blobs/uploads/')
      const at = begun.headers['location']!
      for (const body of chunks) await registry.send('PATCH', at, { body, headers: octets })
      expect(await registry.send('PUT', `${at}?digest=${missing}`)).toMatchObject({
        status: 400,
        json: { errors: [{ code: 'DIGEST_INVALID' }] },
      })
      expect((await registry.send('GET', at)).json.errors[0].code).toBe('BLOB_UPLOAD_UNKNOWN')
    }
    expect((await registry.send('GET', `blobs/${missing}`)).status).toBe(404)
    const direct = await registry.send('POST', `blobs/uploads/?digest=${missing}`, { body: 'x', headers: octets })
    expect(direct.status).toBe(400)
  })

  test('404, and no fault of the server, for an upload whose bytes are gone, as after a restore of a backup', async ({
    world,
  }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const uploads = join((await world.app.open(null)).registry.folder, 'uploads')
    for (const chunks of [[unique('all')], [unique('in'), unique('parts')]]) {
      const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
      const before = new Set(await readdir(uploads).catch(() => []))
      for (const body of chunks) await registry.send('PATCH', at, { body, headers: octets })
      for (const name of await readdir(uploads)) if (!before.has(name)) await rm(join(uploads, name))
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await registry.send('PUT', `${at}?digest=${digestOf(chunks.join(''))}`)).toMatchObject({
          status: 404,
          json: { errors: [{ code: 'BLOB_UPLOAD_UNKNOWN' }] },
        })
    }
  })

  test('the blob of an earlier completion that was killed is as young as one stored now', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const { blobs, registry: own } = await world.app.open(null)
    const content = unique('half completed')
    const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    const before = new Set(await readdir(join(own.folder, 'uploads')).catch(() => []))
    await registry.send('PATCH', at, { body: content, headers: octets })
    const [part] = (await readdir(join(own.folder, 'uploads'))).filter((name) => !before.has(name))
    const { digest } = await blobs.put(createReadStream(join(own.folder, 'uploads', part!)))
    await rm(join(own.folder, 'uploads', part!))
    const since = new Date()
    expect((await registry.send('PUT', `${at}?digest=${digestOf(content)}`)).status).toBe(201)
    // As a collection that began before and has not seen the row.
    expect(await blobs.delete(digest, { unlessStoredSince: since })).toBe(false)
    expect((await registry.send('GET', `blobs/${digestOf(content)}`)).text).toBe(content)
  })

  test('201 to every completion of an upload by requests at once, and to a repeated one, in one part or several', async ({
    world,
  }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    for (const chunks of [[unique('all')], [unique('in'), unique('parts')], ['']]) {
      const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
      for (const body of chunks.slice(0, -1)) await registry.send('PATCH', at, { body, headers: octets })
      await registry.send('PATCH', at, { body: chunks.at(-1)!, headers: octets })
      const content = chunks.join('')
      const digest = digestOf(content)
      const complete = () => registry.send('PUT', `${at}?digest=${digest}`)
      const done = { status: 201, headers: { location: `/v2/${registry.name}/blobs/${digest}` } }
      for (const answer of await Promise.all(Array.from({ length: 8 }, complete))) expect(answer).toMatchObject(done)
      expect(await complete()).toMatchObject(done)
      expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(content)
      expect(await registry.send('PUT', `${at}?digest=${missing}`)).toMatchObject({ status: 404 })
    }
    // With the last part in the request that completes it, as clients send small layers.
    const content = unique('whole')
    const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    const complete = () => registry.send('PUT', `${at}?digest=${digestOf(content)}`, { body: content, headers: octets })
    expect((await complete()).status).toBe(201)
    expect((await complete()).status).toBe(201)
  })

  test('an upload without a digest is not completed, and a cancelled one is gone', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
    expect((await registry.send('PUT', at, { body: 'x', headers: octets })).status).toBe(400)
    expect((await registry.send('GET', at)).status).toBe(204)
    expect((await registry.send('DELETE', at)).status).toBe(204)
    expect((await registry.send('DELETE', at)).status).toBe(404)
    expect((await registry.send('PATCH', at, { body: 'x', headers: octets })).status).toBe(404)
    expect((await registry.send('GET', 'blobs/uploads/none')).status).toBe(404)
  })

  test('a blob is mounted from another repository, or from any of the project', async ({ world }) => {
    const [source, target] = [imageAt(await world.project()), await world.project()]
    const digest = await (await Registry.open(world.root, source)).push(unique('shared'))
    const registry = await Registry.open(world.root, imageAt(target), 'pull,push', [source])
    expect((await registry.send('HEAD', `blobs/${digest}`)).status).toBe(404)
    expect(await registry.send('POST', `blobs/uploads/?mount=${digest}&from=${source}`)).toMatchObject({
      status: 201,
      headers: { location: `/v2/${registry.name}/blobs/${digest}`, 'docker-content-digest': digest },
    })
    expect((await registry.send('HEAD', `blobs/${digest}`)).status).toBe(200)
    const second = await Registry.open(world.root, imageAt(target, 'second'))
    expect((await second.send('POST', `blobs/uploads/?mount=${digest}`)).status).toBe(201)
    expect((await second.send('HEAD', `blobs/${digest}`)).status).toBe(200)
    // What cannot be mounted is uploaded.
    for (const query of [`mount=${missing}&from=${source}`, `mount=${digest}&from=no/such`, 'mount=nonsense&from=x'])
      expect(await registry.send('POST', `blobs/uploads/?${query}`)).toMatchObject({
        status: 202,
        headers: { location: expect.stringContaining('/blobs/uploads/') },
      })
  })

  test('a manifest is pushed to several tags, and without layers', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    for (const tag of ['test0', 'test1', 'test2', 'test3'])
      expect((await registry.putManifest(tag, manifest)).status).toBe(201)
    expect((await registry.putManifest('empty', { ...manifest, layers: [] })).status).toBe(201)
    expect(await registry.tags()).toEqual(['empty', 'test0', 'test1', 'test2', 'test3'])
  })

  test('404 for a manifest whose blobs or manifests the repository does not have', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    const gone = { ...manifest.layers[0]!, digest: missing }
    const unknown = { status: 404, json: { errors: [{ code: 'MANIFEST_BLOB_UNKNOWN', detail: { digest: missing } }] } }
    expect(await registry.putManifest('x', { ...manifest, layers: [gone] })).toMatchObject(unknown)
    expect(await registry.putManifest('x', { ...manifest, config: gone })).toMatchObject(unknown)
    const index = { schemaVersion: 2, manifests: [{ ...gone, mediaType: ociManifest }] }
    expect(await registry.putManifest('x', index, ociIndex)).toMatchObject(unknown)
    const foreign = { ...gone, mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip' }
    expect((await registry.putManifest('foreign', { ...manifest, layers: [foreign] })).status).toBe(201)
    expect(await registry.tags()).toEqual(['foreign'])
  })

  test('an index is pushed whatever sizes its images claim for layers that are stored elsewhere', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    const foreign = {
      mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
      digest: missing,
      size: 2 ** 50,
    }
    const layers = Array.from({ length: 2000 }, () => foreign)
    const images = Array.from({ length: 5 }, (_, n) =>
      JSON.stringify({ ...manifest, layers, annotations: { n: `${n}` } }),
    )
    for (const image of images) expect((await registry.putManifest(digestOf(image), image)).status).toBe(201)
    const manifests = images.map((image) => ({ mediaType: ociManifest, digest: digestOf(image), size: image.length }))
    expect(await registry.putManifest('huge', { schemaVersion: 2, manifests }, ociIndex)).toMatchObject({ status: 201 })
  })

  test.for([
    ['bytes that are not JSON', '{', ociManifest],
    ['a list', '[]', ociManifest],
    ['text that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), ociManifest],
    ['another media type', '{}', 'text/plain'],
    [
      'schema version 1',
      JSON.stringify({ schemaVersion: 1, fsLayers: [] }),
      'application/vnd.docker.distribution.manifest.v1+json',
    ],
    ['no schema version', JSON.stringify({ config: {}, layers: [] }), ociManifest],
    ['no configuration', JSON.stringify({ schemaVersion: 2, layers: [] }), ociManifest],
    ['an index without manifests', JSON.stringify({ schemaVersion: 2 }), ociIndex],
    ['an index that is an image, too', JSON.stringify({ schemaVersion: 2, manifests: [], layers: [] }), ociIndex],
    [
      'a media type other than the Content-Type',
      JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests: [] }),
      'application/vnd.docker.distribution.manifest.list.v2+json',
    ],
    ['a media type with NUL', JSON.stringify({ schemaVersion: 2, mediaType: 'a/\0' }), ociManifest],
    [
      'annotations that are not texts',
      JSON.stringify({ schemaVersion: 2, manifests: [], annotations: { a: 1 } }),
      ociIndex,
    ],
    [
      'a size that is none',
      JSON.stringify({ schemaVersion: 2, manifests: [{ mediaType: ociManifest, digest: missing, size: -1 }] }),
      ociIndex,
    ],
    ['levels without end', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, ociIndex],
  ] as const)('400 for a manifest with %s', async ([, body, contentType], { world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const headers = { 'content-type': contentType }
    expect(await registry.send('PUT', 'manifests/x', { body: body as string, headers })).toMatchObject({
      status: 400,
      json: { errors: [{ code: 'MANIFEST_INVALID' }] },
    })
  })

  test('413 for a manifest above 4 MiB, and 400 for one with another digest or wrong sizes', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    const large = { ...manifest, annotations: { text: 'x'.repeat(4 * 1024 * 1024) } }
    expect((await registry.putManifest('x', large)).status).toBe(413)
    const nearly = { ...manifest, annotations: { text: 'x'.repeat(4 * 1024 * 1024 - 2000) } }
    expect((await registry.putManifest('large', nearly)).status).toBe(201)
    expect((await registry.putManifest(missing, manifest)).json.errors[0].code).toBe('DIGEST_INVALID')
    const wrong = { ...manifest, layers: [{ ...manifest.layers[0]!, size: 1 }] }
    expect((await registry.putManifest('x', wrong)).json.errors[0].code).toBe('MANIFEST_INVALID')
  })

  test('an index of Docker or OCI is pushed with its manifests, and an OCI artifact', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const docker = 'application/vnd.docker.distribution.manifest.v2+json'
    const image = JSON.stringify({ ...(await registry.manifestOf()), mediaType: docker })
    expect((await registry.putManifest(digestOf(image), image, docker)).status).toBe(201)
    const child = { mediaType: docker, digest: digestOf(image), size: image.length, platform: { os: 'linux' } }
    for (const type of ['application/vnd.docker.distribution.manifest.list.v2+json', ociIndex])
      expect(
        (await registry.putManifest('multi', { schemaVersion: 2, mediaType: type, manifests: [child] }, type)).status,
      ).toBe(201)
    const artifact = 'application/vnd.oci.artifact.manifest.v1+json'
    const blob = { mediaType: 'text/plain', digest: await registry.push('text'), size: 4 }
    const body = { mediaType: artifact, artifactType: 'text/plain', blobs: [blob] }
    expect((await registry.putManifest('artifact', body, artifact)).status).toBe(201)
    expect(await registry.tags()).toEqual(['artifact', 'multi'])
  })
})
