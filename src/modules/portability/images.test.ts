import { describe, expect } from 'vitest'
import { type TestProject, test, type World } from '../../../test/world.ts'
import {
  digestOf,
  imageAt,
  imageConfig,
  layerType,
  ociIndex,
  ociManifest,
  Registry,
} from '../../edges/registry/testing.ts'
import { craft, entriesOf, exportOf, importOf, recordsOf } from './testing.ts'

/** A project with two repositories that share a layer, an index, a signature, and what was deleted. */
async function stage(world: World) {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const main = await Registry.open(ann, imageAt(project))
  const one = await main.image('v1', { layer: 'shared', created: '2024-01-02T03:04:05Z' })
  const two = await main.image('v2', { layer: 'x'.repeat(100_000) })
  const manifests = await Promise.all(
    [one, two].map(async (digest) => ({
      mediaType: ociManifest,
      digest,
      size: Number((await main.send('HEAD', `manifests/${digest}`)).headers['content-length']),
    })),
  )
  const index = JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests, annotations: { text: '\u0000 漢' } })
  expect((await main.putManifest('latest', index, ociIndex)).status).toBe(201)
  const signature = await main.manifestOf({ layer: 'signature', subject: { ...manifests[0] } })
  const signed = JSON.stringify(signature)
  expect((await main.putManifest(digestOf(signed), signed)).status).toBe(201)
  const other = await Registry.open(ann, imageAt(project, 'tools/lint'))
  await other.image('v1', { layer: 'shared' })
  await other.image('gone', { layer: 'deleted' })
  await other.send('DELETE', 'manifests/gone')
  await other.push('a layer that no manifest names')
  return { project, ann, one, two, index: digestOf(index), signed: digestOf(signed) }
}

const pulled = async (registry: Registry, digest: string) => (await registry.send('GET', `manifests/${digest}`)).text

describe('container images in archives of projects', () => {
  test('images are pulled from the imported project as from the exported one, and export to the same bytes', async ({
    world,
  }) => {
    const { project, one, two, index, signed } = await stage(world)
    const first = await exportOf(world, project.id)
    const entries = await entriesOf(first)
    expect(recordsOf(entries, 'container_repositories').map(({ name }) => name)).toEqual(['', 'tools/lint'])
    expect(recordsOf(entries, 'container_tags').map(({ name, repository }) => [repository, name])).toEqual([
      [1, 'latest'],
      [1, 'v1'],
      [1, 'v2'],
      [2, 'v1'],
    ])
    // A layer that two repositories have is there once; one that no manifest names is not.
    expect(entries.get(`container-blobs/${digestOf('shared').slice(7)}`)?.toString()).toBe('shared')
    expect(entries.has(`container-blobs/${digestOf('a layer that no manifest names').slice(7)}`)).toBe(false)

    const imported = await importOf(world, first)
    expect(imported).toMatchObject({ import_status: 'finished', import_error: null })
    const { json } = await world.root.get(`/projects/${imported.id}`)
    const [from, to] = [
      await Registry.open(world.root, imageAt(project)),
      await Registry.open(world.root, imageAt({ full_path: json.path_with_namespace })),
    ]
    for (const digest of [one, two, index, signed]) expect(await pulled(to, digest)).toBe(await pulled(from, digest))
    const { layers } = JSON.parse(await pulled(to, two))
    expect((await to.send('GET', `blobs/${layers[0].digest}`)).text).toBe('x'.repeat(100_000))
    expect(JSON.parse((await to.send('GET', `referrers/${one}`)).text).manifests).toMatchObject([{ digest: signed }])
    const details = async (id: number) => {
      const [repository] = (await world.root.get(`/projects/${id}/registry/repositories`)).json
      const {
        location: _,
        path: _p,
        ...tag
      } = (await world.root.get(`/projects/${id}/registry/repositories/${repository.id}/tags/latest`)).json
      return tag
    }
    expect(await details(imported.id)).toEqual(await details(project.id))
    // The collection must not take what a manifest names.
    expect((await to.send('DELETE', `blobs/${layers[0].digest}`)).status).toBe(405)
    expect((await to.send('DELETE', `manifests/${one}`)).status).not.toBe(202)
    expect((await exportOf(world, imported.id)).equals(first)).toBe(true)
  })

  test('images whose layers and manifests clients name by SHA-512 are exported and imported, too', async ({
    world,
  }) => {
    const project = await world.project()
    const from = await Registry.open(world.root, imageAt(project))
    const layer = 'named by SHA-512'
    const config = JSON.stringify({ architecture: 'amd64', os: 'linux' })
    const image = JSON.stringify({
      schemaVersion: 2,
      mediaType: ociManifest,
      config: { mediaType: imageConfig, digest: await from.push(config), size: config.length },
      layers: [{ mediaType: layerType, digest: await from.push(layer, 'sha512'), size: layer.length }],
    })
    const digest = digestOf(image, 'sha512')
    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: ociIndex,
      manifests: [{ mediaType: ociManifest, digest, size: image.length }],
    })
    expect((await from.putManifest(digest, image)).status).toBe(201)
    expect((await from.putManifest('tagged', image)).status).toBe(201)
    expect((await from.putManifest('latest', index, ociIndex)).status).toBe(201)
    const exported = await exportOf(world, project.id)
    const imported = await importOf(world, exported)
    expect(imported).toMatchObject({ import_status: 'finished', import_error: null })
    const { json } = await world.root.get(`/projects/${imported.id}`)
    const to = await Registry.open(world.root, imageAt({ full_path: json.path_with_namespace }))
    expect(await to.tags()).toEqual(['latest', 'tagged'])
    for (const name of [digest, digestOf(image)]) expect(await pulled(to, name)).toBe(image)
    expect((await to.send('GET', `blobs/${digestOf(layer, 'sha512')}`)).text).toBe(layer)
    expect((await to.send('GET', `blobs/${digestOf(layer)}`)).status).toBe(404)
    expect((await to.send('DELETE', `manifests/${digest}`)).status).toBe(405)
    expect((await exportOf(world, imported.id)).equals(exported)).toBe(true)
  })

  test('a project whose registry is disabled exports no images', async ({ world }) => {
    const { project } = await stage(world)
    await world.root.put(`/projects/${project.id}`, { container_registry_access_level: 'disabled' })
    const entries = await entriesOf(await exportOf(world, project.id))
    expect([...entries.keys()].filter((name) => name.includes('container'))).toEqual([])
  })
})

describe('images of hostile archives', () => {
  const time = '2026-01-02T03:04:05.678Z'
  const times = { created_at: time, updated_at: time }
  const config = '{}'
  const image = (layer: string, more: object = {}) =>
    JSON.stringify({
      schemaVersion: 2,
      mediaType: ociManifest,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: digestOf(config), size: config.length },
      layers: [{ mediaType: layerType, digest: digestOf(layer), size: layer.length }],
      ...more,
    })
  const row = (payload: string, more: object = {}) => ({
    repository: 1,
    media_type: ociManifest,
    payload,
    total_size: 1,
    created_at: time,
    ...more,
  })
  const archiveOf = (relations: Record<string, readonly object[]>, blobs: Record<string, string>) =>
    craft([
      { name: 'VERSION', content: '0.2.4\n' },
      { name: 'tree/project.json', content: JSON.stringify({ format: { name: 'stithy', version: 1 } }) },
      ...Object.entries(relations).map(([name, rows]) => ({
        name: `tree/project/${name}.ndjson`,
        content: rows.map((each) => JSON.stringify(each)).join('\n'),
      })),
      ...Object.entries(blobs).flatMap(([digest, content]) => {
        const name = `container-blobs/${digest.slice(7)}`
        // A name of more than 100 bytes is the content of an entry before it.
        return [
          { name: 'long', type: 'L', content: name },
          { name, content },
        ]
      }),
    ])
  const blobRow = (content: string, repository = 1) => ({ repository, digest: digestOf(content).slice(7) })
  const repositories = [
    { name: '', ...times },
    { name: 'b', ...times },
  ]

  const tagsOf = async (world: World, project: Pick<TestProject, 'full_path'>, name = '') =>
    (await Registry.open(world.root, imageAt(project, name))).tags()
  const pathOf = async (world: World, id: number) => ({
    full_path: (await world.root.get(`/projects/${id}`)).json.path_with_namespace,
  })

  test('a layer that the archive names without its bytes stays out of reach, with the manifests that need it', async ({
    world,
  }) => {
    // The store has these bytes, from a project that the importer cannot see.
    const hidden = await world.project()
    await (await Registry.open(world.root, imageAt(hidden))).image('v1', { layer: 'a secret layer' })
    const ann = await world.user()
    const archive = archiveOf(
      {
        container_repositories: repositories,
        container_blobs: [
          blobRow(config),
          blobRow('a secret layer'),
          { repository: 1, digest: digestOf('a secret layer', 'sha512').slice(7) },
          blobRow('mine'),
        ],
        container_manifests: [
          row(image('a secret layer')),
          row(image('mine')),
          row(image('mine').replace('"size":4', '"size":5')),
          row('{"schemaVersion":2}'),
          row(image('mine'), { media_type: 'text/html' }),
          row(image('mine')),
          row(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests: [] }), { media_type: ociIndex }),
        ],
        container_tags: [
          { repository: 1, manifest: 1, name: 'stolen', ...times },
          { repository: 1, manifest: 2, name: 'mine', ...times },
          { repository: 2, manifest: 2, name: 'elsewhere', ...times },
          { repository: 1, manifest: 4, name: 'invalid', ...times },
        ],
      },
      { [digestOf(config)]: config, [digestOf('mine')]: 'mine' },
    )
    const imported = await importOf(world, archive, ann)
    expect(imported).toMatchObject({ import_status: 'finished', import_error: null })
    const place = await pathOf(world, imported.id)
    expect([await tagsOf(world, place), await tagsOf(world, place, 'b')]).toEqual([['mine'], []])
    const registry = await Registry.open(ann, imageAt(place))
    for (const algorithm of ['sha256', 'sha512'])
      expect((await registry.send('GET', `blobs/${digestOf('a secret layer', algorithm)}`)).status).toBe(404)
    expect((await registry.send('GET', `blobs/${digestOf('mine')}`)).text).toBe('mine')
  })

  test.for([
    [
      'other bytes than its digest',
      {},
      { [digestOf('mine')]: 'other' },
      'does not have the content that its name says',
    ],
    [
      'other bytes than its SHA-512 digest',
      {},
      { [digestOf('mine', 'sha512')]: 'other' },
      'does not have the content that its name says',
    ],
    [
      'a name that leaves the project',
      { container_repositories: [{ name: '../x', ...times }] },
      {},
      'name is not valid',
    ],
    ['three segments', { container_repositories: [{ name: 'a/b/c', ...times }] }, {}, 'name is not valid'],
    [
      'the same name twice',
      { container_repositories: [repositories[0]!, repositories[0]!] },
      {},
      'contradicts the rules',
    ],
    [
      'a tag with a slash',
      { container_repositories: repositories, container_tags: [{ repository: 1, manifest: 1, name: 'a/b', ...times }] },
      {},
      'name is not valid',
    ],
    [
      'a repository that does not exist',
      { container_blobs: [blobRow('x', 7)] },
      { [digestOf('x')]: 'x' },
      'refers to line 7 of container_repositories',
    ],
  ] as const)('an image with %s is refused', async ([, relations, blobs, reason], { world }) => {
    const imported = await importOf(world, archiveOf(relations as never, blobs))
    expect(imported.import_status).toBe('failed')
    expect(imported.import_error).toContain(reason)
  })
})
