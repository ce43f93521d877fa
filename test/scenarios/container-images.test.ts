import { hash, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished } from 'vitest'
import { digestOf, imageAt, Registry, repositoryOf } from '../../src/edges/registry/testing.ts'
import { collectBlobs } from '../../src/modules/administration/blob-collection/service.ts'
import { collectImages } from '../../src/modules/registry/collection/service.ts'
import { oldFiles } from '../../src/modules/registry/uploads/files.ts'
import { isInstalled, titleFor } from '../programs/installed.ts'
import { run } from '../programs/run.ts'
import { hasS3, S3Server, s3Env } from '../s3/server.ts'
import { emptyEnv, freshEnv, serve } from '../service.ts'
import { ageImages } from '../tables/registry.ts'
import { eventually } from '../waiting.ts'
import { Client, temporaryFolder, test, unique, World } from '../world.ts'

/** Writes an OCI layout with an image of several platforms; returns the digest of its index. */
async function writeLayout(folder: string, platforms: readonly string[], layerBytes: number): Promise<string> {
  const blobs = join(folder, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })
  const put = async (content: string | Buffer, mediaType: string) => {
    const digest = hash('sha256', content, 'hex')
    await writeFile(join(blobs, digest), content)
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(content) }
  }
  const manifests = []
  for (const architecture of platforms) {
    const content = randomBytes(layerBytes)
    // Clients compress other layers, which gives them another digest.
    const layer = gzipSync(content)
    const config = {
      created: '2024-01-02T03:04:05Z',
      architecture,
      os: 'linux',
      rootfs: { type: 'layers', diff_ids: [digestOf(content)] },
      config: {},
    }
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: await put(JSON.stringify(config), 'application/vnd.oci.image.config.v1+json'),
      layers: [await put(layer, 'application/vnd.oci.image.layer.v1.tar+gzip')],
    }
    const descriptor = await put(JSON.stringify(manifest), manifest.mediaType)
    manifests.push({ ...descriptor, platform: { architecture, os: 'linux' } })
  }
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }
  const top = await put(JSON.stringify(index), index.mediaType)
  const named = { ...top, annotations: { 'org.opencontainers.image.ref.name': 'latest' } }
  await writeFile(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }))
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  return top.digest
}

const hostOf = (world: World): string => new URL(world.origin).host

describe.skipIf(!isInstalled('skopeo'))(titleFor('skopeo'), () => {
  const policy = ['--insecure-policy']

  test('skopeo copies an image of several platforms in, between projects, and out, unchanged', async ({ world }) => {
    await using folder = await temporaryFolder()
    const developer = await world.user()
    const [project, other] = [
      await world.project({ members: [[developer, 'developer']] }),
      await world.project({ members: [[developer, 'developer']] }),
    ]
    const digest = await writeLayout(join(folder.path, 'in'), ['amd64', 'arm64'], 300_000)
    const creds = `${developer.username}:${developer.token}`
    const at = (name: string) => `docker://${hostOf(world)}/${name}:1.0`
    const copy = (...args: string[]) => run('skopeo', [...policy, 'copy', '--all', '-q', ...args])
    const [source, target] = [imageAt(project, 'app'), imageAt(other)]
    const [from, to] = [
      ['--src-tls-verify=false', '--src-creds', creds],
      ['--dest-tls-verify=false', '--dest-creds', creds],
    ]
    await copy(...to, `oci:${join(folder.path, 'in')}:latest`, at(source))
    await copy(...from, ...to, at(source), at(target))
    await copy(...from, at(target), `oci:${join(folder.path, 'out')}:latest`)
    const index = JSON.parse(await readFile(join(folder.path, 'out', 'index.json'), 'utf8'))
    expect(index.manifests[0].digest).toBe(digest)

    // As the format of Docker, in which every manifest has another digest.
    await copy(...to, '--format', 'v2s2', `oci:${join(folder.path, 'in')}:latest`, at(imageAt(project, 'docker')))
    const tls = ['--tls-verify=false', '--creds', creds]
    const inspected = await run('skopeo', [
      ...policy,
      'inspect',
      ...tls,
      '--override-arch',
      'arm64',
      '--override-os',
      'linux',
      at(imageAt(project, 'docker')),
    ])
    expect(JSON.parse(inspected.stdout)).toMatchObject({ Architecture: 'arm64', RepoTags: ['1.0'] })
    const raw = await run('skopeo', [...policy, 'inspect', '--raw', ...tls, at(source)])
    expect(digestOf(raw.stdout)).toBe(digest)
    const listed = await run('skopeo', ['list-tags', ...tls, `docker://${hostOf(world)}/${source}`])
    expect(JSON.parse(listed.stdout).Tags).toEqual(['1.0'])
    const { id } = await repositoryOf(world, project, 'app')
    expect((await developer.get(`/projects/${project.id}/registry/repositories/${id}/tags/1.0`)).json).toMatchObject({
      digest,
      total_size: expect.any(Number),
      created_at: '2024-01-02T03:04:05.000Z',
    })
  })

  test('skopeo pushes an image twice with only the scope write_registry, and cannot pull it', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const digest = await writeLayout(join(folder.path, 'in'), ['amd64'], 300_000)
    const at = `/projects/${project.id}/deploy_tokens`
    const { username, token } = (await world.root.post(at, { name: 'ci', scopes: ['write_registry'] })).json
    const image = `docker://${hostOf(world)}/${imageAt(project)}:1.0`
    const copy = (side: 'src' | 'dest', from: string, to: string) => {
      const access = [`--${side}-tls-verify=false`, `--${side}-creds`, `${username}:${token}`]
      return run('skopeo', [...policy, 'copy', '--all', '-q', ...access, from, to])
    }
    for (const _ of [1, 2]) await copy('dest', `oci:${join(folder.path, 'in')}:latest`, image)
    const registry = await Registry.open(world.root, imageAt(project))
    expect((await registry.send('HEAD', 'manifests/1.0')).headers['docker-content-digest']).toBe(digest)
    await expect(copy('src', image, `oci:${join(folder.path, 'out')}:latest`)).rejects.toThrow(/denied|authentication/)
  })

  test('skopeo deletes an image as a maintainer, and is refused as a developer, a stranger and anonymous', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const [maintainer, developer, stranger] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [maintainer, 'maintainer'],
        [developer, 'developer'],
      ],
    })
    await writeLayout(folder.path, ['amd64'], 1000)
    const name = `docker://${hostOf(world)}/${imageAt(project)}:x`
    const push = (who: Client) =>
      run('skopeo', [
        ...policy,
        'copy',
        '-q',
        '--all',
        '--dest-tls-verify=false',
        '--dest-creds',
        `${who.username}:${who.token}`,
        `oci:${folder.path}:latest`,
        name,
      ])
    const remove = (who: Client) =>
      run('skopeo', ['delete', '--tls-verify=false', '--creds', `${who.username}:${who.token}`, name])
    await expect(push(stranger)).rejects.toThrow(/denied|unauthorized/)
    await push(developer)
    await expect(remove(developer)).rejects.toThrow()
    await expect(run('skopeo', ['inspect', '--tls-verify=false', name])).rejects.toThrow(/403|denied/)
    await remove(maintainer)
    expect(await (await Registry.open(world.root, imageAt(project))).tags()).toEqual([])
  })
})

/** Settings of the object storage of an own server; it ends with the test. Downloads are not redirected. */
async function objectStorage() {
  const server = await S3Server.start()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { STITHY_BLOB_URL: await server.bucket(unique('bucket')), STITHY_BLOB_DOWNLOADS: 'proxy' }
}

async function pushWithManyWriters(world: World): Promise<void> {
  const ctx = await world.app.open(null)
  await world.runJobs()
  const writers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const project = await world.project()
      return { project, registry: await Registry.open(world.root, imageAt(project)) }
    }),
  )
  const layers = Array.from({ length: 4 }, (_, at) => `${unique(`layer ${at}`)}${'x'.repeat(50_000)}`)
  let isGoing = true
  const since = new Date()
  const collecting = (async () => {
    while (isGoing) {
      for (const { project } of writers) {
        const { id } = (await repositoryOf(world, project)) ?? {}
        await ageImages(world, id ?? 0, '2 hours')
        await world.root.delete(`/projects/${project.id}/registry/repositories/${id}/tags?name_regex=moving.*`)
      }
      await collectImages(ctx, { retentionDays: 7, graceHours: 24 })
      await collectBlobs(ctx, since)
    }
  })()
  const push = async (writer: number) => {
    const { registry } = writers[writer % writers.length]!
    for (let round = 0; round < 5; round++) {
      const layer = layers[(writer + round) % layers.length]!
      await registry.image(`moving${writer % 4}`, { layer })
      await registry.image(`stays${writer}-${round}`, { layer })
    }
  }
  await Promise.all(Array.from({ length: 32 }, (_, writer) => push(writer)))
  isGoing = false
  await collecting
  for (const { registry } of writers) {
    const tags = await registry.tags()
    expect(tags.filter((tag) => tag.startsWith('stays'))).toHaveLength(20)
    for (const tag of tags) {
      const manifest = await registry.send('GET', `manifests/${tag}`)
      // A tag may be deleted meanwhile.
      if (manifest.status === 404 && tag.startsWith('moving')) continue
      for (const { digest, size } of JSON.parse(manifest.text).layers) {
        const { status, text } = await registry.send('GET', `blobs/${digest}`)
        expect([status, text.length, digestOf(text)]).toEqual([200, size, digest])
      }
    }
  }
}

const writersPass =
  '32 writers push the same layers to eight projects during bulk deletion and collection, without a failure'

test(writersPass, ({ world }) => pushWithManyWriters(world))

test.skipIf(!hasS3)(`${writersPass}, in object storage (skipped without test/s3/install)`, async () => {
  const env = await objectStorage()
  await using world = await World.start(env)
  await pushWithManyWriters(world)
})

test('an upload continues after the client disconnected, with the bytes that had arrived', async ({ world }) => {
  const registry = await Registry.open(world.root, imageAt(await world.project()))
  const begun = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
  const [arrived, rest] = ['a'.repeat(100_000), 'b'.repeat(1000)]
  const url = new URL(world.origin)
  const socket = connect(Number(url.port), url.hostname)
  socket.on('error', () => {})
  socket.write(
    `PATCH ${begun} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${registry.token}\r\nContent-Length: 999999\r\n\r\n`,
  )
  socket.write(arrived)
  const received = async () => (await registry.send('GET', begun)).headers['range']
  // The bytes are in the process once its file has them.
  const ctx = await world.app.open(null)
  await eventually(async () =>
    expect((await oldFiles(ctx.registry.folder, new Date(Date.now() + 60_000))).length).toBeGreaterThan(0),
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.destroy()
  await expect.poll(received).toBe(`0-${arrived.length - 1}`)
  const digest = digestOf(arrived + rest)
  const done = await registry.send('PUT', `${begun}?digest=${digest}`, {
    body: rest,
    headers: { 'content-range': `${arrived.length}-${arrived.length + rest.length - 1}` },
  })
  expect(done.status).toBe(201)
  expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(arrived + rest)
})

async function resumeAfterKill(env: Parameters<typeof serve>[0]): Promise<void> {
  let service = await serve(env)
  const made = await service.root.post('/projects', { path: 'images' })
  expect(made.status).toBe(201)
  const open = () =>
    Registry.open(new Client(service.origin, { id: 1, username: 'root', token: service.root.token! }), 'root/images')
  let registry = await open()
  const chunks = ['first'.repeat(2000), 'second'.repeat(2000), 'third'.repeat(2000)]
  const at = (await registry.send('POST', 'blobs/uploads/')).headers['location']!
  await registry.send('PATCH', at, { body: chunks[0]! })
  // A chunk of which a part has arrived when the service ends.
  const [first, second, third] = chunks.map(({ length }) => length) as [number, number, number]
  const cut = connect(Number(new URL(service.origin).port), '127.0.0.1')
  cut.on('error', () => {})
  cut.write(
    `PATCH ${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${registry.token}\r\nContent-Length: ${second}\r\nContent-Range: ${first}-${first + second - 1}\r\n\r\n`,
  )
  cut.write(chunks[1]!.slice(0, 5000))
  const acknowledged: string[] = []
  let isGoing = true
  const pushing = (async () => {
    for (let n = 0; isGoing; n++) {
      const pushed = await registry.image(`tag${n}`, { layer: `${n}`.repeat(100_000) }).catch(() => undefined)
      if (pushed !== undefined) acknowledged.push(`tag${n}`)
    }
  })()
  await eventually(() => expect(acknowledged.length).toBeGreaterThan(3))
  process.kill(service.launched.pid, 'SIGKILL')
  await service.launched.exit
  isGoing = false
  await pushing
  service = await serve(service.env)
  registry = await open()
  const from = (start: number, length: number) => ({ 'content-range': `${start}-${start + length - 1}` })
  const reported = await registry.send('GET', at)
  expect(reported).toMatchObject({ status: 204, headers: { range: `0-${first - 1}`, location: at } })
  expect(await registry.send('PATCH', at, { body: chunks[0]!, headers: from(0, first) })).toMatchObject({
    status: 416,
    headers: { range: `0-${first - 1}`, location: at },
  })
  expect(await registry.send('PATCH', at, { body: chunks[1]!, headers: from(first, second) })).toMatchObject({
    status: 202,
    headers: { range: `0-${first + second - 1}` },
  })
  const digest = digestOf(chunks.join(''))
  const last = { body: chunks[2]!, headers: from(first + second, third) }
  expect((await registry.send('PUT', `${at}?digest=${digest}`, last)).status).toBe(201)
  expect((await registry.send('GET', `blobs/${digest}`)).text).toBe(chunks.join(''))
  const tags = await registry.tags()
  for (const tag of acknowledged) {
    expect(tags).toContain(tag)
    const { layers } = JSON.parse((await registry.send('GET', `manifests/${tag}`)).text)
    expect(digestOf((await registry.send('GET', `blobs/${layers[0].digest}`)).text)).toBe(layers[0].digest)
  }
}

const resumes =
  'a client resumes an upload where GET reports after kill -9 of the service, and no acknowledged image is lost'

test(resumes, async () => resumeAfterKill(await freshEnv()))

test.skipIf(!hasS3)(`${resumes}, in object storage (skipped without test/s3/install)`, async () =>
  resumeAfterKill({ ...(await emptyEnv()), ...(await objectStorage()), ...s3Env }),
)
