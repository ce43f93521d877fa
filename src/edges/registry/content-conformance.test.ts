import { describe, expect } from 'vitest'
import { test } from '../../../test/world.ts'
import { digestOf, imageAt, missing, ociIndex, ociManifest, Registry } from './testing.ts'

/*
 * The cases "content discovery" and "content management" of the conformance tests of the OCI distribution specification 1.1, in
 * their order.
 */

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
