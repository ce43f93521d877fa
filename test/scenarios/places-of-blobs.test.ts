import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FormData } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { hasS3, S3Server, s3Env } from '../s3/server.ts'
import { bin, type Env, emptyEnv, freshEnv, type Service, serve } from '../service.ts'
import { eventually } from '../waiting.ts'

const command = async (words: readonly string[], env: Env) => {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

const refused = async (env: Env) => {
  const { code, err } = await command(['serve'], env)
  return { code, err }
}

const stop = async ({ launched }: Service): Promise<void> => {
  launched.process.kill('SIGTERM')
  await launched.exit
}

/** Stores a file in a project. */
async function attach({ root }: Service): Promise<void> {
  const { id } = (await root.post('/projects', { name: 'attached' })).json
  const form = new FormData()
  form.set('file', new Blob(['content']), 'a.txt')
  expect((await root.send('POST', `/projects/${id}/uploads`, { body: form })).status).toBe(201)
}

test('a start is refused with 2 where the folder of blobs cannot be', async () => {
  const file = join(await temporaryFolder(), 'file')
  writeFileSync(file, '')
  const env = { ...(await freshEnv()), STITHY_BLOB_URL: join(file, 'blobs') }
  expect(await refused(env)).toEqual({
    code: 2,
    err: expect.stringMatching(
      new RegExp(`^Cannot write to the folder of blobs ${file}/blobs \\(STITHY_BLOB_URL\\): EEXIST: .*\\n$`),
    ),
  })
  const doctor = await command(['doctor'], env)
  expect(doctor).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^failed +Blobs +.*cannot create .*not a folder$/m),
  })
})

test('a start creates a new folder of blobs that only the service reads', async () => {
  const folder = join(await temporaryFolder(), 'new', 'blobs')
  const service = await serve({ ...(await freshEnv()), STITHY_BLOB_URL: folder })
  expect(existsSync(folder)).toBe(true)
  await attach(service)
})

test('a start is refused with 2 if the folder has no blobs and the database names some', async () => {
  const [folder, empty] = [join(await temporaryFolder(), 'blobs'), await temporaryFolder()]
  const env = { ...(await freshEnv()), STITHY_BLOB_URL: folder }
  const service = await serve(env)
  await attach(service)
  await stop(service)
  const sentence = (place: string) =>
    `The folder of blobs ${place} (STITHY_BLOB_URL) has none, and the database names 1: name the folder that has them, or mount its disk. If they are lost, create the folder sha256 in it.\n`
  // As a disk that is not mounted; as a setting that was forgotten.
  expect(await refused({ ...env, STITHY_BLOB_URL: empty })).toEqual({ code: 2, err: sentence(empty) })
  expect(await refused({ ...env, STITHY_BLOB_URL: '' })).toEqual({
    code: 2,
    err: sentence(join(env.STITHY_DATA_DIR, 'blobs')),
  })
  expect(await command(['doctor'], { ...env, STITHY_BLOB_URL: empty })).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^failed +Blobs +.*has none, and the database names 1/m),
  })
  // Moved by the operator.
  const moved = join(empty, 'moved')
  renameSync(folder, moved)
  await stop(await serve({ ...env, STITHY_BLOB_URL: moved }))
  // Given up.
  mkdirSync(join(empty, 'sha256'))
  await serve({ ...env, STITHY_BLOB_URL: empty })
})

describe.skipIf(!hasS3)('object storage at a start (skipped without test/s3/install)', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('a start is refused with 2 by a bucket that does not exist, wrong credentials, and a server that does not answer', async () => {
    const env = { ...(await emptyEnv()), ...s3Env }
    const url = await server.bucket('first-start')
    const err = (text: RegExp) => expect.stringMatching(text)
    expect(await refused({ ...env, STITHY_BLOB_URL: url.replace('first-start', 'absent') })).toEqual({
      code: 2,
      err: err(/^The object storage s3:\/\/absent\/\S+ \(STITHY_BLOB_URL\) cannot write: NoSuchBucket: .*\n$/),
    })
    expect(await refused({ ...env, STITHY_BLOB_URL: url, AWS_SECRET_ACCESS_KEY: 'wrong' })).toEqual({
      code: 2,
      err: err(
        /^The object storage s3:\/\/first-start\/\S+ \(STITHY_BLOB_URL\) cannot write: SignatureDoesNotMatch: .*\n$/,
      ),
    })
    const silent = url.replace(/:\d+$/, `:${await freePort()}`)
    // Also a second time.
    for (const _ of [1, 2])
      expect(await refused({ ...env, STITHY_BLOB_URL: silent })).toEqual({
        code: 2,
        err: err(/^The object storage s3:\/\/first-start\/\S+ \(STITHY_BLOB_URL\) cannot write: .*ECONNREFUSED.*\n$/),
      })
  })

  test('a start while the object storage of earlier starts is down says so, and serves the rest', async () => {
    const env = {
      ...(await emptyEnv()),
      ...s3Env,
      STITHY_LOG_LEVEL: 'warn',
      STITHY_BLOB_URL: await server.bucket('down'),
    }
    await stop(await serve(env))
    await server.kill()
    const { launched, root } = await serve(env)
    await eventually(() =>
      expect(launched.out).toMatch(/"level":"warn".*The object storage s3:\S+ does not answer: it cannot write: /),
    )
    expect((await root.post('/projects', { name: 'without-files' })).status).toBe(201)
    await server.restart()
  })
})
