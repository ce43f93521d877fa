import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { digestOf, imageAt, octets, Registry, repositoryOf } from '../../src/edges/registry/testing.ts'
import { collectBlobs } from '../../src/modules/administration/blob-collection/service.ts'
import { collectImages } from '../../src/modules/registry/collection/service.ts'
import { Launched } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, rootToken, type Service, serve } from '../service.ts'
import { ageImages } from '../tables/registry.ts'
import { eventually } from '../waiting.ts'
import { Client, test, unique } from '../world.ts'

const content = () => randomBytes(30_000 + Math.floor(Math.random() * 200_000)).toString('hex')

/** What the service has acknowledged. */
class Acknowledged {
  /** Digests of blobs by repository. */
  readonly blobs: [repository: string, digest: string][] = []
  readonly images = new Map<string, string>()
  readonly deleted: string[] = []
}

/** The ways in which clients write to the registry, once each. A request that a kill interrupts throws. */
const writes = (one: Registry, two: Registry, root: Client, acknowledged: Acknowledged) => ({
  async monolithic() {
    const body = content()
    const digest = digestOf(body)
    const { status } = await one.send('POST', `blobs/uploads/?digest=${digest}`, { body, headers: octets })
    if (status === 201) acknowledged.blobs.push(['one', digest])
  },
  async chunked() {
    const parts = [content(), content(), content()] as const
    const digest = digestOf(parts.join(''))
    let at = (await one.send('POST', 'blobs/uploads/')).headers['location']!
    for (const body of parts.slice(0, 2)) {
      const { status, headers } = await one.send('PATCH', at, { body, headers: octets })
      if (status !== 202) return
      at = headers['location']!
    }
    const { status } = await one.send('PUT', `${at}?digest=${digest}`, { body: parts[2], headers: octets })
    if (status === 201) acknowledged.blobs.push(['one', digest])
  },
  async mounted() {
    const [, digest] = acknowledged.blobs.findLast(([repository]) => repository === 'one') ?? []
    if (digest === undefined) throw new Error('nothing to mount yet')
    const { status } = await two.send('POST', `blobs/uploads/?mount=${digest}&from=${one.name}`)
    if (status === 201) acknowledged.blobs.push(['two', digest])
  },
  async tagged() {
    const tag = unique('tag')
    acknowledged.images.set(tag, await one.image(tag, { layer: content() }))
  },
  async untagged() {
    const tag = unique('gone')
    await one.image(tag, { layer: content() })
    const [{ id }] = (await root.get('/projects/root%2Fone/registry/repositories')).json
    const { status } = await root.delete(`/projects/root%2Fone/registry/repositories/${id}/tags/${tag}`)
    if (status === 200) acknowledged.deleted.push(tag)
  },
})

test('layers, manifests and deletions of tags that are acknowledged survive kill -9 of workers, the jobs process and the primary', async () => {
  let service: Service = await serve({ ...(await freshEnv()), STITHY_PROCESSES: '2' })
  const root = new Client(service.origin, { id: 1, username: 'root', token: rootToken })
  for (const path of ['one', 'two']) expect((await root.post('/projects', { path })).status).toBe(201)
  const one = await Registry.open(root, 'root/one')
  const two = await Registry.open(root, 'root/two', undefined, ['root/one'])
  const acknowledged = new Acknowledged()
  const counts = new Map<string, number>()
  let isGoing = true
  const writers = Object.entries(writes(one, two, root, acknowledged)).map(async ([name, write]) => {
    while (isGoing) {
      const isDone = await write().then(
        () => true,
        () => false,
      )
      if (isDone) counts.set(name, (counts.get(name) ?? 0) + 1)
      else await delay(50)
    }
  })
  const goesOn = async () => {
    const before = new Map(counts)
    await eventually(() => {
      for (const name of ['monolithic', 'chunked', 'mounted', 'tagged', 'untagged'])
        expect(counts.get(name) ?? 0).toBeGreaterThan((before.get(name) ?? 0) + 1)
    })
  }
  await goesOn()
  for (const title of ['stithy worker', 'stithy jobs', 'stithy worker', 'everything', 'stithy worker', 'everything']) {
    await delay(Math.random() * 200)
    if (title === 'everything') {
      process.kill(service.launched.pid, 'SIGKILL')
      await service.launched.exit
      service = await serve(service.env)
    } else await service.launched.killNamed(title)
    await goesOn()
  }
  isGoing = false
  await Promise.all(writers)

  const repositories = { one, two } as const
  for (const [name, digest] of acknowledged.blobs) {
    const { status, text } = await repositories[name as 'one' | 'two'].send('GET', `blobs/${digest}`)
    expect([status, digestOf(text)]).toEqual([200, digest])
  }
  for (const [tag, digest] of acknowledged.images) {
    const manifest = await one.send('GET', `manifests/${tag}`)
    expect([manifest.status, digestOf(manifest.text)]).toEqual([200, digest])
    for (const layer of JSON.parse(manifest.text).layers)
      expect(digestOf((await one.send('GET', `blobs/${layer.digest}`)).text)).toBe(layer.digest)
  }
  const tags = await one.tags()
  for (const tag of acknowledged.deleted) expect(tags).not.toContain(tag)
  service.launched.process.kill('SIGTERM')
  expect(await service.launched.exit).toBe(0)
  const check = new Launched(['check'], service.env, { file: bin })
  expect(await check.exit, check.err).toBe(0)
})

test('a layer that is mounted while a collection deletes it at its source is there with all its bytes', async ({
  world,
}) => {
  const ctx = await world.app.open(null)
  const [from, to] = [await world.project(), await world.project()]
  const source = await Registry.open(world.root, imageAt(from))
  const target = await Registry.open(world.root, imageAt(to), undefined, [source.name])
  const layers = await Promise.all(Array.from({ length: 60 }, () => source.push(unique('layer').padEnd(20_000, 'x'))))
  const { id } = await repositoryOf(world, from)
  const mounted: string[] = []
  const mounting = Promise.all(
    layers.map(async (digest, n) => {
      await delay(n * 5)
      const { status } = await target.send('POST', `blobs/uploads/?mount=${digest}&from=${source.name}`)
      expect([201, 202]).toContain(status)
      if (status === 201) mounted.push(digest)
    }),
  )
  let isGoing = true
  const collecting = (async () => {
    await eventually(() => expect(mounted.length).toBeGreaterThan(10))
    await ageImages(world, id, '2 days')
    // All bytes are old enough to be deleted.
    const since = new Date(Date.now() + 60_000)
    while (isGoing) {
      await collectImages(ctx, { retentionDays: 1, graceHours: 24 })
      await collectBlobs(ctx, since)
    }
  })()
  await mounting
  isGoing = false
  await collecting
  expect(mounted.length).toBeLessThan(layers.length)
  for (const digest of mounted) {
    const { status, text } = await target.send('GET', `blobs/${digest}`)
    expect([status, digestOf(text)]).toEqual([200, digest])
  }
})
