import { describe, expect } from 'vitest'
import { test, unique } from '../../../test/world.ts'
import { digestOf, imageAt, ociIndex, ociManifest, Registry } from './testing.ts'

/*
 * The cases of the conformance tests of the OCI distribution specification 1.1, in their order: pull, push, content discovery,
 * content management.
 */

const missing = digestOf('nothing has these bytes')
const octets = { 'content-type': 'application/octet-stream' }

describe('pull', () => {
  test('404 for a blob that does not exist, with GET and HEAD', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    expect(await registry.send('GET', `blobs/${missing}`)).toMatchObject({
      status: 404,
      headers: { 'docker-distribution-api-version': 'registry/2.0' },
      json: { errors: [{ code: 'BLOB_UNKNOWN', message: 'blob unknown to registry', detail: { digest: missing } }] },
    })
    expect(await registry.send('HEAD', `blobs/${missing}`)).toMatchObject({ status: 404, text: '' })
  })

  test('a blob is read whole, in part, and its length and digest by HEAD', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const content = unique('a layer')
    const digest = await registry.push(content)
    const whole = await registry.send('GET', `blobs/${digest}`)
    expect(whole).toMatchObject({
      status: 200,
      text: content,
      headers: {
        'docker-content-digest': digest,
        'content-length': String(content.length),
        'accept-ranges': 'bytes',
        'content-type': 'application/octet-stream',
      },
    })
    expect(await registry.send('HEAD', `blobs/${digest}`)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'docker-content-digest': digest, 'content-length': String(content.length) },
    })
    expect(await registry.send('GET', `blobs/${digest}`, { headers: { range: 'bytes=2-4' } })).toMatchObject({
      status: 206,
      text: content.slice(2, 5),
      headers: { 'content-range': `bytes 2-4/${content.length}` },
    })
    expect(await registry.send('GET', `blobs/${digest}`, { headers: { range: 'bytes=999-' } })).toMatchObject({
      status: 416,
      headers: { 'content-range': `bytes */${content.length}` },
      json: { errors: [{ code: 'RANGE_INVALID' }] },
    })
    const etag = whole.headers['etag']!
    expect((await registry.send('GET', `blobs/${digest}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  test('404 for a manifest that does not exist, by tag and digest, with GET and HEAD', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    for (const reference of ['none', missing]) {
      expect(await registry.send('GET', `manifests/${reference}`)).toMatchObject({
        status: 404,
        json: { errors: [{ code: 'MANIFEST_UNKNOWN' }] },
      })
      expect((await registry.send('HEAD', `manifests/${reference}`)).status).toBe(404)
    }
  })

  test('a manifest is read by tag and digest as it was pushed', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = `${JSON.stringify(await registry.manifestOf(), null, 3)}\n`
    const digest = digestOf(manifest)
    expect(await registry.putManifest('one', manifest)).toMatchObject({
      status: 201,
      headers: { location: `/v2/${registry.name}/manifests/${digest}`, 'docker-content-digest': digest },
    })
    for (const reference of ['one', digest]) {
      const headers = {
        'content-type': ociManifest,
        'docker-content-digest': digest,
        'content-length': String(manifest.length),
      }
      expect(await registry.send('GET', `manifests/${reference}`)).toMatchObject({
        status: 200,
        text: manifest,
        headers,
      })
      expect(await registry.send('HEAD', `manifests/${reference}`)).toMatchObject({ status: 200, text: '', headers })
    }
  })

  test.for([
    ['tag', 'manifests/.INVALID', 'TAG_INVALID'],
    ['digest of a manifest', 'manifests/sha256:abc', 'DIGEST_INVALID'],
    ['algorithm', `manifests/sha384:${'0'.repeat(96)}`, 'DIGEST_INVALID'],
    ['digest of a blob', 'blobs/nonsense', 'DIGEST_INVALID'],
    ['name', '/v2/Upper/case/manifests/latest', 'NAME_INVALID'],
    ['name of one segment', '/v2/single/manifests/latest', 'NAME_INVALID'],
  ] as const)('400 for an invalid %s', async ([, path, code], { world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    expect(await registry.send('GET', path)).toMatchObject({
      status: 400,
      json: { errors: [{ code, message: expect.any(String) }] },
    })
  })

  test('404 for other paths, and 405 with the methods of the path', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    expect((await registry.send('GET', '/v2/a/b/c/d')).json.errors[0].code).toBe('UNSUPPORTED')
    expect((await registry.send('GET', '/v2/a/b/c/d')).status).toBe(404)
    expect(await registry.send('DELETE', 'tags/list')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    expect((await registry.send('POST', '/v2/')).status).toBe(405)
    expect((await registry.send('GET', '/v2/%E0%A4%A/manifests/x')).status).toBe(400)
  })
})

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
      JSON.stringify({ schemaVersion: 2, mediaType: ociIndex }),
      ociManifest,
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

describe('content discovery', () => {
  test('tags are listed in order, in pages of `n` after `last`', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    for (const tag of ['b', 'A', 'a', 'B']) await registry.putManifest(tag, manifest)
    const list = (query = '') => registry.send('GET', `tags/list${query}`)
    expect((await list()).json).toEqual({ name: registry.name, tags: ['A', 'B', 'a', 'b'] })
    const first = await list('?n=2')
    expect(first.json.tags).toEqual(['A', 'B'])
    const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers['link']!)!
    const second = await registry.send('GET', next!)
    expect([second.json.tags, second.headers['link']]).toEqual([['a', 'b'], undefined])
    expect((await list('?n=2&last=B')).json.tags).toEqual(['a', 'b'])
    expect((await list('?last=a')).json.tags).toEqual(['b'])
    expect((await list('?n=0')).json.tags).toEqual([])
    expect((await list('?n=x')).status).toBe(400)
    expect((await list('?last=%00')).json.tags).toHaveLength(4)
  })

  test('404 for the tags of a repository that does not exist', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()), 'pull')
    expect(await registry.send('GET', 'tags/list')).toMatchObject({
      status: 404,
      json: { errors: [{ code: 'NAME_UNKNOWN' }] },
    })
  })

  test('referrers are listed for a subject that exists or not, by type', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const image = JSON.stringify(await registry.manifestOf())
    const subject = { mediaType: ociManifest, digest: digestOf(image), size: image.length }
    const referrers = async (digest: string, query = '') => {
      const answer = await registry.send('GET', `referrers/${digest}${query}`)
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': ociIndex } })
      return { all: JSON.parse(answer.text).manifests, filters: answer.headers['oci-filters-applied'], answer }
    }
    expect((await referrers(missing)).all).toEqual([])
    const push = async (fields: object, type: string = ociManifest) => {
      const body = JSON.stringify({ ...(await registry.manifestOf()), subject, ...fields })
      const answer = await registry.putManifest(digestOf(body), body, type)
      expect(answer).toMatchObject({ status: 201, headers: { 'oci-subject': subject.digest } })
      return { digest: digestOf(body), size: body.length }
    }
    const empty = { mediaType: 'application/vnd.oci.empty.v1+json', digest: await registry.push('{}'), size: 2 }
    const one = await push({ artifactType: 'application/one', config: empty, annotations: { key: 'first\0' } })
    const two = await push({ config: { ...empty, mediaType: 'application/two' } })
    await registry.putManifest('image', image)
    const index = {
      config: undefined,
      layers: undefined,
      mediaType: ociIndex,
      manifests: [],
      artifactType: 'application/one',
    }
    const three = await push(index, ociIndex)
    expect((await referrers(subject.digest)).all).toEqual([
      { mediaType: ociManifest, ...one, artifactType: 'application/one', annotations: { key: 'first\0' } },
      { mediaType: ociManifest, ...two, artifactType: 'application/two' },
      { mediaType: ociIndex, ...three, artifactType: 'application/one' },
    ])
    const filtered = await referrers(subject.digest, '?artifactType=application/one')
    expect([filtered.all.map((each: any) => each.digest), filtered.filters]).toEqual([
      [one.digest, three.digest],
      'artifactType',
    ])
    expect((await registry.putManifest('plain', await registry.manifestOf())).headers['oci-subject']).toBeUndefined()
  })

  test('referrers are listed in pages', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf({ subject: { mediaType: ociManifest, digest: missing, size: 1 } })
    for (let at = 0; at < 101; at++) {
      const body = JSON.stringify({ ...manifest, annotations: { at: String(at) } })
      await registry.putManifest(digestOf(body), body)
    }
    const first = await registry.send('GET', `referrers/${missing}`)
    const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers['link']!)!
    const second = await registry.send('GET', next!)
    expect([JSON.parse(first.text).manifests.length, JSON.parse(second.text).manifests.length]).toEqual([100, 1])
    expect(second.headers['link']).toBeUndefined()
  })
})

describe('content management', () => {
  test('a tag is deleted, then its manifest by digest, then its blobs', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const manifest = await registry.manifestOf()
    const digest = digestOf(JSON.stringify(manifest))
    for (const tag of ['tagtest0', 'tagtest1', 'tagtest2']) await registry.putManifest(tag, manifest)
    expect((await registry.send('DELETE', 'manifests/tagtest0')).status).toBe(202)
    expect((await registry.send('GET', 'manifests/tagtest0')).status).toBe(404)
    expect((await registry.send('DELETE', 'manifests/tagtest0')).status).toBe(404)
    expect(await registry.tags()).toEqual(['tagtest1', 'tagtest2'])
    const [layer] = manifest.layers
    expect(await registry.send('DELETE', `blobs/${layer!.digest}`)).toMatchObject({
      status: 405,
      json: { errors: [{ code: 'UNSUPPORTED' }] },
    })
    expect((await registry.send('DELETE', `manifests/${digest}`)).status).toBe(202)
    expect((await registry.send('DELETE', `manifests/${digest}`)).status).toBe(404)
    expect((await registry.send('GET', `manifests/${digest}`)).status).toBe(404)
    expect(await registry.tags()).toEqual([])
    expect((await registry.send('DELETE', `blobs/${layer!.digest}`)).status).toBe(202)
    expect((await registry.send('GET', `blobs/${layer!.digest}`)).status).toBe(404)
    expect((await registry.send('DELETE', `blobs/${layer!.digest}`)).status).toBe(404)
    // What is pushed again is there again.
    await registry.push('layer')
    expect((await registry.putManifest('again', manifest)).status).toBe(201)
    expect((await registry.send('GET', `manifests/${digest}`)).status).toBe(200)
  })

  test('a manifest of an index is not deleted', async ({ world }) => {
    const registry = await Registry.open(world.root, imageAt(await world.project()))
    const digest = await registry.image('image')
    const { size } = { size: Number((await registry.send('HEAD', 'manifests/image')).headers['content-length']) }
    const index = JSON.stringify({ schemaVersion: 2, manifests: [{ mediaType: ociManifest, digest, size }] })
    await registry.putManifest('index', index, ociIndex)
    expect((await registry.send('DELETE', `manifests/${digest}`)).status).toBe(405)
    expect((await registry.send('DELETE', `manifests/${digestOf(index)}`)).status).toBe(202)
    expect((await registry.send('DELETE', `manifests/${digest}`)).status).toBe(202)
  })
})
