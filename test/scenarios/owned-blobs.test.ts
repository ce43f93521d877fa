import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FormData } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { hasS3, S3Server, s3Env } from '../s3/server.ts'
import { bin, type Env, emptyEnv, freshEnv, type Service, serve } from '../service.ts'

const command = async (words: readonly string[], env: Env) => {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

/** What a start says that should be refused: one that serves is stopped. */
const start = async (env: Env) => {
  const launched = new Launched(['serve'], env, { file: bin })
  launched.ready().then(
    () => launched.process.kill('SIGTERM'),
    () => {},
  )
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

const stop = async ({ launched }: Service): Promise<void> => {
  launched.process.kill('SIGTERM')
  await launched.exit
}

/** Stores a file in a project. */
async function attach({ root }: Service): Promise<void> {
  const { id } = (await root.post('/projects', { name: `attached-${randomUUID()}` })).json
  const form = new FormData()
  form.set('file', new Blob([randomUUID()]), 'a.txt')
  expect((await root.send('POST', `/projects/${id}/uploads`, { body: form })).status).toBe(201)
}

const idOf = (env: Env): string => readFileSync(join(env.STITHY_DATA_DIR, 'installation'), 'utf8').trim()
const markerIn = (folder: string): string => join(folder, 'stithy-installation')
const newFolder = async (): Promise<string> => join(await temporaryFolder(), 'blobs')

/** A stopped installation with a file in a store of blobs. */
async function installation(make: () => Promise<Env>, store: string): Promise<Env> {
  const env = { ...(await make()), STITHY_BLOB_URL: store }
  const service = await serve(env)
  await attach(service)
  await stop(service)
  return env
}

const belongs = (place: string, env: Env, other: Env): string =>
  `${place} belongs to installation ${idOf(other)}, and this is installation ${idOf(env)}: name the store of this one, or an empty one.`

test('a folder of blobs that belongs to another installation is refused by starts with 2, and by commands, and not changed', async () => {
  const [store, mine] = [await newFolder(), await newFolder()]
  const [theirs, ours] = [await installation(emptyEnv, store), await installation(freshEnv, mine)]
  const before = (await readdir(store, { recursive: true })).sort()
  const env = { ...ours, STITHY_BLOB_URL: store }
  const sentence = belongs(`The folder of blobs ${store}`, ours, theirs)
  expect(await start(env)).toEqual({
    code: 2,
    out: '',
    err: `${sentence} If its blobs are of this one, write the id of this one into ${markerIn(store)}.\n`,
  })
  expect(await command(['doctor'], env)).toMatchObject({ code: 1, out: expect.stringContaining(sentence.slice(0, -1)) })
  for (const words of [['check'], ['backup', '--to', await newFolder()]])
    expect(await command(words, env), words[0]).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
  expect(await command(['blobs', 'move', '--to', store], ours)).toMatchObject({
    code: 2,
    err: expect.stringContaining(sentence),
  })
  expect((await readdir(store, { recursive: true })).sort()).toEqual(before)
  // The refused move has not begun, and both still serve what they have.
  for (const each of [ours, theirs]) {
    expect(await command(['check'], each)).toMatchObject({ code: 0 })
    await stop(await serve(each))
  }
})

test('a folder without a mark gets one if it has blobs of the database, and is refused if it has only others', async () => {
  const [store, mine] = [await newFolder(), await newFolder()]
  const [theirs, ours] = [await installation(emptyEnv, store), await installation(freshEnv, mine)]
  // As earlier versions have left them.
  for (const folder of [store, mine]) rmSync(markerIn(folder))
  const sentence = `The folder of blobs ${store} has blobs, and none that the database of installation ${idOf(ours)} names: name the store of this one, or an empty one.`
  const expected = { code: 2, err: expect.stringContaining(sentence) }
  expect(await start({ ...ours, STITHY_BLOB_URL: store })).toMatchObject(expected)
  expect(await command(['blobs', 'move', '--to', store], ours)).toMatchObject(expected)
  // A new installation has lost nothing that it could miss.
  const empty = { ...(await freshEnv()), STITHY_BLOB_URL: store }
  expect(await start(empty)).toMatchObject({ code: 2, err: expect.stringContaining(' names: name the ') })
  expect(existsSync(markerIn(store))).toBe(false)
  for (const [env, folder] of [
    [ours, mine],
    [theirs, store],
  ] as const) {
    await stop(await serve(env))
    expect(readFileSync(markerIn(folder), 'utf8').trim()).toBe(idOf(env))
  }
})

test('the id of an installation in the mark of a folder gives the folder to it', async () => {
  const store = await newFolder()
  const theirs = await installation(emptyEnv, store)
  const env = { ...(await freshEnv()), STITHY_BLOB_URL: store }
  writeFileSync(markerIn(store), 'illegible')
  expect(await start(env)).toMatchObject({
    code: 2,
    err: `${markerIn(store)} contains no installation id. If the blobs are of installation ${idOf(env)}, write that id into it.\n`,
  })
  writeFileSync(markerIn(store), idOf(env))
  await stop(await serve(env))
  expect(await start(theirs)).toMatchObject({ code: 2 })
})

test('a database that was adopted keeps its blobs, which no copy from before can use then', async () => {
  const store = await newFolder()
  const env = await installation(freshEnv, store)
  const before = idOf(env)
  expect(await command(['adopt'], env)).toMatchObject({ code: 0 })
  expect(idOf(env)).not.toBe(before)
  const service = await serve(env)
  expect((await service.root.get('/projects')).json).toHaveLength(1)
  await stop(service)
  // Its id is that of the folder which the other was made from.
  const copy = { ...(await freshEnv()), STITHY_BLOB_URL: store }
  expect(idOf(copy)).toBe(before)
  expect(await start(copy)).toMatchObject({ code: 2 })
})

test('adopt takes no blobs from another installation', async () => {
  const store = await newFolder()
  const theirs = await installation(emptyEnv, store)
  const env = { ...(await freshEnv()), STITHY_BLOB_URL: store }
  expect(await command(['adopt'], env)).toMatchObject({ code: 0 })
  expect(await start(env)).toMatchObject({ code: 2 })
  await stop(await serve(theirs))
})

test('a restore refuses the folder of another installation, and marks its own, that of a quiet copy with an id of its own', async () => {
  const [taken, own, backups] = [await newFolder(), await newFolder(), await newFolder()]
  const [theirs, env] = [await emptyEnv(), await installation(freshEnv, own)]
  // No blobs yet.
  await stop(await serve({ ...theirs, STITHY_BLOB_URL: taken }))
  expect(await command(['backup', '--to', backups], env)).toMatchObject({ code: 0 })
  const restore = async (store: string, ...words: string[]) => {
    const copy = { ...(await emptyEnv()), STITHY_BLOB_URL: store, STITHY_DATA_DIR: await newFolder() }
    return { copy, ...(await command(['restore', '--from', backups, ...words], copy)) }
  }
  expect(await restore(taken)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${taken} belongs to installation ${idOf(theirs)}`),
  })
  for (const words of [[], ['--quiet']]) {
    const store = await newFolder()
    const { copy, code } = await restore(store, ...words)
    expect(code).toBe(0)
    expect(readFileSync(markerIn(store), 'utf8').trim()).toBe(idOf(copy))
    expect(idOf(copy) === idOf(env)).toBe(words.length === 0)
    await stop(await serve(copy))
  }
})

test('a move marks the folder to which it goes, and a store that was left can be used again', async () => {
  const [first, second] = [await newFolder(), await newFolder()]
  const env = await installation(freshEnv, first)
  expect(await command(['blobs', 'move', '--to', second], env)).toMatchObject({ code: 0 })
  expect(readFileSync(markerIn(second), 'utf8').trim()).toBe(idOf(env))
  expect(await command(['blobs', 'move', '--to', first], { ...env, STITHY_BLOB_URL: second })).toMatchObject({
    code: 0,
  })
  await stop(await serve(env))
})

describe.skipIf(!hasS3)('object storage of another installation (skipped without test/s3/install)', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('a prefix of another installation is refused, with a mark and without one, and an own one is marked', async () => {
    const [store, mine] = [await server.bucket('theirs'), await server.bucket('ours')]
    const make = async (from: () => Promise<Env>) => ({ ...(await from()), ...s3Env })
    const theirs = await installation(() => make(emptyEnv), store)
    const ours = await installation(() => make(emptyEnv), mine)
    const marker = (bucket: string) => join(server.folder, 'data', bucket, 'blobs', 'stithy-installation')
    const moving = () => command(['blobs', 'move', '--to', store], ours)
    const starting = async () => start({ ...(await make(emptyEnv)), STITHY_BLOB_URL: store, STITHY_LOG_LEVEL: 'warn' })
    const sentence = belongs('The object storage s3://theirs/blobs', ours, theirs)
    expect(await moving()).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
    expect(await starting()).toMatchObject({
      code: 2,
      err: expect.stringContaining(`The object storage s3://theirs/blobs belongs to installation ${idOf(theirs)}, and`),
    })
    for (const bucket of ['theirs', 'ours']) rmSync(marker(bucket))
    expect(await moving()).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `The object storage s3://theirs/blobs has blobs, and none that the database of installation ${idOf(ours)} names`,
      ),
    })
    expect(await starting()).toMatchObject({ code: 2, err: expect.stringContaining('has blobs, and none that') })
    expect(existsSync(marker('theirs'))).toBe(false)
    for (const [env, bucket] of [
      [theirs, 'theirs'],
      [ours, 'ours'],
    ] as const) {
      await stop(await serve(env))
      expect(readFileSync(marker(bucket), 'utf8').trim()).toBe(idOf(env))
      // The mark is no object of which the database should know.
      expect(await command(['check'], env)).toMatchObject({ code: 0 })
    }
    // A bucket whose objects were deleted is as good as new, unless it is another's.
    expect(await command(['backup', '--to', await newFolder()], ours)).toMatchObject({ code: 0 })
  })
})
