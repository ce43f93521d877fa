import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FormData, request } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { basic, batch, follow, oidOf, upload } from '../../src/modules/pushes/large-files/testing.ts'
import { isAlive, Launched } from '../../src/processes/testing/launch.ts'
import { hasS3, S3Server, s3Env } from '../s3/server.ts'
import { bin, freshEnv, serve } from '../service.ts'
import { TcpProxy } from '../tcp-proxy.ts'
import { eventually } from '../waiting.ts'
import { type Answer, type Client, type TestProject, test, unique, World } from '../world.ts'

const oidsAt = (project: { full_path: string }, content: Buffer | string) =>
  `//${project.full_path}.git/gitlab-lfs/objects/${oidOf(content)}`

const download = (who: Client, project: { full_path: string }, content: Buffer | string, headers = basic(who)) =>
  who.send('GET', oidsAt(project, content), { headers: { 'private-token': '', ...headers } })

/** Uploads a file to a project; its URL. */
async function attach(who: Client, project: TestProject, name: string, content: Buffer): Promise<string> {
  const form = new FormData()
  form.set('file', new Blob([content]), name)
  const { json } = await who.send('POST', `/projects/${project.id}/uploads`, { body: form })
  return `//${project.full_path}${json.url}`
}

describe.skipIf(!hasS3)('the service with object storage (skipped without test/s3/install)', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const worldOf = async (env: Record<string, string> = {}) => {
    const proxy = await TcpProxy.start(server.port)
    const url = await server.bucket(unique('bucket'), { port: proxy.port })
    const world = await World.start({ STITHY_BLOB_URL: url, ...env })
    onTestFinished(async () => {
      await world[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
    })
    return { world, proxy, url }
  }

  test('downloads of large files and uploads are redirected to links, small ones and avatars are not', async () => {
    const { world, proxy } = await worldOf()
    const { root } = world
    const project = await world.project({ visibility: 'public' })
    const [large, small] = [randomBytes(200_000), randomBytes(1000)]
    for (const content of [large, small]) expect(await upload(root, project, content)).toBe(200)

    const { actions } = (await batch(root, project, 'download', [large])).json.objects[0]
    const redirected = await follow(root, 'GET', actions.download)
    expect([redirected.status, redirected.text]).toEqual([302, ''])
    expect(redirected.headers['cache-control']).toBe('no-store')
    const location = redirected.headers['location']!
    expect(new URL(location).port).toBe(String(proxy.port))
    const got = await world.anonymous.bytes(location)
    expect(got.body.equals(large)).toBe(true)
    expect(got.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'cache-control': 'private, max-age=0, no-store',
    })
    // Answered here: what the client has, HEAD, impossible ranges, and clients that would repeat their token elsewhere.
    const etag = `"${oidOf(large)}"`
    const statuses = async (...answers: Promise<Answer>[]) => (await Promise.all(answers)).map(({ status }) => status)
    expect(
      await statuses(
        download(root, project, small),
        download(root, project, large, { ...basic(root), 'if-none-match': etag }),
        download(root, project, large, { ...basic(root), range: 'bytes=200000-' }),
        download(root, project, large, { ...basic(root), 'private-token': root.token! }),
        root.send('HEAD', oidsAt(project, large), { headers: basic(root) }),
        download(root, project, large, { ...basic(root), range: 'bytes=0-9' }),
      ),
    ).toEqual([200, 304, 416, 200, 200, 302])

    const attachment = await attach(root, project, 'a b.zip', large)
    const linked = await world.anonymous.get(attachment)
    expect(linked.status).toBe(302)
    const file = await world.anonymous.bytes(linked.headers['location']!)
    expect(file.body.equals(large)).toBe(true)
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringMatching(/^attachment; filename=.*a_b\.zip/),
    })
    expect((await root.get(attachment)).status).toBe(200)

    const form = new FormData()
    form.set(
      'avatar',
      new Blob([Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), large.subarray(0, 100_000)])]),
      'x.png',
    )
    const { json } = await root.send('PUT', `/projects/${project.id}`, { body: form })
    const avatar = await world.anonymous.bytes(world.origin + new URL(json.avatar_url).pathname)
    expect([avatar.status, avatar.body.length]).toEqual([200, 100_008])
  })

  test('a link to a file of a private project is made only for those who may read it', async () => {
    const { world } = await worldOf()
    const project = await world.project({ visibility: 'private' })
    const content = randomBytes(200_000)
    await upload(world.root, project, content)
    const attachment = await attach(world.root, project, 'x.zip', content)
    const stranger = await world.user()
    for (const who of [stranger, world.anonymous]) {
      const answer = await download(who, project, content)
      expect([401, 403, 404]).toContain(answer.status)
      expect(answer.headers['location']).toBeUndefined()
      const other = await who.get(attachment)
      expect([404, undefined]).toEqual([other.status, other.headers['location']])
    }
  })

  test('without redirects the service passes files on, whole and in parts', async () => {
    const { world } = await worldOf({ STITHY_BLOB_DOWNLOADS: 'proxy' })
    const project = await world.project()
    const content = randomBytes(7_000_000)
    expect(await upload(world.root, project, content)).toBe(200)
    const at = world.origin + oidsAt(project, content).slice(1)
    const get = async (headers: Record<string, string>) => {
      const { statusCode, body } = await request(at, { headers: { ...basic(world.root), ...headers } })
      return { statusCode, bytes: Buffer.from(await body.arrayBuffer()) }
    }
    const whole = await get({})
    expect([whole.statusCode, whole.bytes.equals(content)]).toEqual([200, true])
    const part = await get({ range: 'bytes=6999990-' })
    expect([part.statusCode, part.bytes.equals(content.subarray(6_999_990))]).toEqual([206, true])
  })

  test('while the store is down, uploads and downloads get a 503, readiness fails, and nothing is acknowledged', async () => {
    const { world } = await worldOf({ STITHY_BLOB_DOWNLOADS: 'proxy' })
    const project = await world.project()
    const [before, during] = [randomBytes(1000), randomBytes(1000)]
    await upload(world.root, project, before)
    await server.kill()
    onTestFinished(() => server.restart())
    const sentence = expect.stringContaining('The storage of large files and pictures is unavailable. Retry later.')
    const { actions } = (await batch(world.root, project, 'upload', [during])).json.objects[0]
    for (const answer of [
      await follow(world.root, 'PUT', actions.upload, during),
      await download(world.root, project, before),
    ])
      expect(answer).toMatchObject({ status: 503, text: sentence, headers: { 'retry-after': '10' } })
    const readiness = async () => {
      const { status, json } = await world.anonymous.get('//-/readiness')
      return [status, json.blobs_check[0].status]
    }
    await expect.poll(readiness).toEqual([503, 'failed'])
    // Git, the API and everything else go on.
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(200)
    const [{ actions: again }] = (await batch(world.root, project, 'upload', [during])).json.objects
    expect(again.upload).toBeDefined()
  })

  test('kill -9 during uploads and a move loses no acknowledged file', async () => {
    const env = { ...(await freshEnv()), ...s3Env }
    const bucketUrl = await server.bucket(unique('bucket'))
    const acknowledged: Buffer[] = []
    let project: TestProject | undefined
    /** Uploads until the service is gone. */
    const uploading = async (root: Client) => {
      for (;;) {
        const content = randomBytes(acknowledged.length % 4 === 0 ? 6_000_000 : 50_000)
        const status = await upload(root, project!, content).catch(() => undefined)
        if (status === undefined) return
        if (status === 200) acknowledged.push(content)
      }
    }
    const move = () => new Launched(['blobs', 'move', '--to', bucketUrl], env, { file: bin })
    // Uploads to the folder; to both stores while the mover is killed; to both until the move is complete.
    for (const moves of ['not', 'killed', 'complete'] as const) {
      const { launched, root } = await serve(env)
      if (!project) {
        const { json } = await root.post('/projects', { name: 'large' })
        project = { ...json, full_path: json.path_with_namespace }
      }
      const goal = acknowledged.length + 6
      const uploads = [uploading(root), uploading(root), uploading(root)]
      const mover = moves === 'not' ? undefined : move()
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(goal))
      if (moves === 'killed') mover!.process.kill('SIGKILL')
      if (moves === 'complete')
        expect([await mover!.exit, mover!.out]).toEqual([0, expect.stringMatching(/^\d+ blobs/)])
      const family = launched.family()
      launched.process.kill('SIGKILL')
      await launched.exit
      await Promise.all(uploads)
      await eventually(() => expect(family.filter(isAlive)).toEqual([]))
    }
    // All of it is in object storage alone.
    await rm(join(env.STITHY_DATA_DIR, 'blobs'), { recursive: true })
    Object.assign(env, { STITHY_BLOB_URL: bucketUrl, STITHY_BLOB_DOWNLOADS: 'proxy' })
    const { root } = await serve(env)
    for (const content of acknowledged) {
      const { status, text } = await root.send('GET', oidsAt(project!, content), {
        headers: { ...basic(root), range: 'bytes=0-0' },
      })
      expect([status, text.length > 0]).toEqual([206, true])
    }
    const check = new Launched(['check'], env, { file: bin })
    expect([await check.exit, check.out.trim()]).toEqual([0, 'No problems found.'])
  })

  test('doctor reports what does not work in object storage', async () => {
    const { world, url } = await worldOf()
    const env = {
      ...(await freshEnv()),
      ...s3Env,
      ...{ STITHY_DATABASE_URL: world.databaseUrl, STITHY_DATA_DIR: world.config.dataDir, STITHY_BLOB_URL: url },
    }
    const lineOf = async (changed: Record<string, string>) => {
      const doctor = new Launched(['doctor'], { ...env, ...changed }, { file: bin })
      await doctor.exit
      return doctor.out.split('\n').find((line) => / Blobs /.test(line))
    }
    expect(await lineOf({})).toMatch(/^ok +Blobs +s3:.*: writing, reading and deleting work$/)
    expect(await lineOf({ AWS_SECRET_ACCESS_KEY: 'wrong' })).toMatch(
      /^failed +Blobs +s3:.* cannot write: SignatureDoesNotMatch: /,
    )
  })
})

test('a move to the folder that is in use is refused with a sentence', async () => {
  const env = await freshEnv()
  const mover = new Launched(['blobs', 'move', '--to', join(env.STITHY_DATA_DIR, 'blobs')], env, { file: bin })
  expect([await mover.exit, mover.err.trim()]).toEqual([
    1,
    `Blobs are already stored in ${join(env.STITHY_DATA_DIR, 'blobs')}.`,
  ])
})
