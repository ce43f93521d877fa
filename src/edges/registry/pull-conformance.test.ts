import { describe, expect } from 'vitest'
import { test, unique } from '../../../test/world.ts'
import { digestOf, imageAt, missing, ociManifest, Registry } from './testing.ts'

// The cases "pull" of the conformance tests of the OCI distribution specification 1.1, in their order.

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
    for (const range of ['bytes=2-4', 'bytes=999-'])
      expect(await registry.send('HEAD', `blobs/${digest}`, { headers: { range } })).toMatchObject({
        status: 200,
        headers: { 'content-length': String(content.length) },
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
