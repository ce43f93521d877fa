import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FormData } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasS3, S3Server } from '../../test/s3/server.ts'
import { forgetLocation, objectStates } from '../../test/tables/blobs.ts'
import { TcpProxy } from '../../test/tcp-proxy.ts'
import { eventually } from '../../test/waiting.ts'
import { unique, World } from '../../test/world.ts'
import { moveBlobs as moveByCommand } from '../commands.ts'
import type { BlobStore, Digest } from './blob-store.ts'
import type { Claimant } from './claim.ts'
import { blobStoreSuite } from './conformance.ts'
import { currentLocation } from './current-location.ts'
import { DiskBlobs } from './disk.ts'
import { LocatedBlobs } from './located.ts'
import { storeName } from './location.ts'
import { moveBlobs } from './move.ts'
import { openStore } from './open.ts'
import { settleLocation } from './settle.ts'

const read = async (store: BlobStore, digest: Digest) => {
  const found = await store.get(digest)
  return found && (await buffer(found.body))
}
const put = (store: BlobStore, bytes: Buffer | string) => store.put(Readable.from([Buffer.from(bytes)]))

let world: World
let server: S3Server | undefined
beforeAll(async () => {
  ;[world, server] = await Promise.all([World.start(), hasS3 ? S3Server.start() : undefined])
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})
beforeEach(() => forgetLocation(world))

/** URL of an empty folder. */
const folder = () => pathToFileURL(join(world.config.dataDir, unique('blobs'))).href
const bucket = () => server!.bucket(unique('bucket'))

blobStoreSuite('blobs in the folder of the setting', async () => {
  await forgetLocation(world)
  return new LocatedBlobs(world.db, { configured: folder() })
})

const claimant: Claimant = {
  installation: randomUUID(),
  namesSome: async () => true,
  missingIn: async () => [],
}

/** A move to another store, and what it printed. */
const move = async (configured: string, to: string, { skipDamaged = false } = {}) => {
  const lines: string[] = []
  const progress = (line: string) => lines.push(line)
  const moved = await moveBlobs(world.db, { configured, to, skipDamaged, progress, claimant })
  return { ...moved, lines }
}

describe.for([
  ['a folder to another folder', folder, folder, true],
  ['a folder to object storage', folder, bucket, hasS3],
  ['object storage to another prefix', bucket, bucket, hasS3],
  ['object storage to a folder', bucket, folder, hasS3],
] as const)('moving blobs from %s', ([, makeFrom, makeTo, possible]) => {
  test.skipIf(!possible)('copies every blob while processes write and read, and loses none', async () => {
    const [configured, to] = [await makeFrom(), await makeTo()]
    // Four processes, none of which is notified of changes.
    const processes = Array.from({ length: 4 }, () => new LocatedBlobs(world.db, { configured }))
    const stored = new Map<Digest, Buffer>()
    for (let n = 0; n < 30; n++) {
      const bytes = randomBytes(1000 + n * 5000)
      stored.set((await put(processes[n % 4]!, bytes)).digest, bytes)
    }
    let going = true
    const writing = processes.map(async (process) => {
      while (going) {
        const bytes = randomBytes(500 + Math.floor(Math.random() * 20_000))
        const { digest } = await put(process, bytes)
        stored.set(digest, bytes)
        const known = [...stored.keys()]
        const some = known[Math.floor(Math.random() * known.length)]!
        // Of every process, whatever it knows of the move.
        for (const each of processes) expect((await read(each, some))?.equals(stored.get(some)!)).toBe(true)
      }
    })
    const { complete, problems, copied } = await move(configured, to).finally(() => {
      going = false
    })
    await Promise.all(writing)
    expect({ complete, problems }).toEqual({ complete: true, problems: [] })
    expect(copied).toBeGreaterThanOrEqual(30)
    const target = await openStore(to, world.db)
    for (const [digest, bytes] of stored) {
      expect((await read(target, digest))?.equals(bytes)).toBe(true)
      expect((await read(processes[0]!, digest))?.equals(bytes)).toBe(true)
    }
    await expect(move(configured, to)).rejects.toThrow(/^Blobs are already stored in /)
  })
})

describe('an interrupted move', () => {
  test('continues where it ended, and copies nothing twice', async () => {
    const [configured, to] = [folder(), folder()]
    const blobs = new LocatedBlobs(world.db, { configured })
    for (let n = 0; n < 40; n++) await put(blobs, `blob ${n}`)
    // The folder of a blob that cannot be written ends the move as a crash would.
    const obstacle = join(fileURLToPath(to), 'sha256')
    const blob = await put(blobs, 'the last')
    await new DiskBlobs(fileURLToPath(to)).put(Readable.from([Buffer.from('blob 0')]))
    await writeFile(join(obstacle, blob.digest.slice(0, 2)), 'in the way').catch(() => {})
    await expect(move(configured, to)).rejects.toThrow()
    expect(await read(blobs, blob.digest)).toEqual(Buffer.from('the last'))
    const during = await put(blobs, 'stored while no move runs')
    await rm(join(obstacle, blob.digest.slice(0, 2)))
    const before = (await readdir(obstacle, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()).length
    const { complete, copied } = await move(configured, to)
    expect([complete, copied + before]).toEqual([true, 42])
    expect(await read(new DiskBlobs(fileURLToPath(to)), during.digest)).toEqual(
      Buffer.from('stored while no move runs'),
    )
  })

  test('is turned round by a move to the old store, with all that the new one has', async () => {
    const [configured, to] = [folder(), folder()]
    const blobs = new LocatedBlobs(world.db, { configured })
    const { digest } = await put(blobs, 'old')
    await writeFile(join(fileURLToPath(configured), 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest), 'oops')
    expect(await move(configured, to)).toMatchObject({ complete: false, problems: [`the blob ${digest} is damaged`] })
    const young = await put(blobs, 'young')
    await expect(move(configured, folder())).rejects.toThrow(/^Blobs are being moved from .* Complete that move, or /)
    expect(await move(configured, configured)).toMatchObject({ complete: true, copied: 1 })
    expect(await read(new DiskBlobs(fileURLToPath(configured)), young.digest)).toEqual(Buffer.from('young'))
  })

  test('ends without damaged blobs if the operator says so', async () => {
    const [configured, to] = [folder(), folder()]
    const blobs = new LocatedBlobs(world.db, { configured })
    const [{ digest }, sound] = [await put(blobs, 'old'), await put(blobs, 'sound')]
    await writeFile(join(fileURLToPath(configured), 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest), 'oops')
    expect(await move(configured, to, { skipDamaged: true })).toMatchObject({ complete: true, copied: 1 })
    expect([await blobs.has(digest), await blobs.has(sound.digest)]).toEqual([false, true])
  })
})

test('a move from a folder that has no blobs, or not all that the database names, changes nothing or does not end', async () => {
  const project = await world.project()
  for (const name of ['one.txt', 'other.txt']) {
    const body = new FormData()
    body.set('file', new Blob([unique(name)]), name)
    expect((await world.root.send('POST', `/projects/${project.id}/uploads`, { body })).status).toBe(201)
  }
  const [unmounted, to] = [folder(), folder()]
  const command = (configured: string, skipDamaged = false) =>
    moveByCommand({ ...world.config, blobUrl: configured }, world.databaseUrl, { to, skipDamaged }, () => {})
  await expect(command(unmounted)).rejects.toThrow(/ has no blobs, and the database names 2\. /)
  expect(await currentLocation(world.db, unmounted)).toMatchObject({ url: unmounted, moving_to: null })

  const held = new DiskBlobs(fileURLToPath(world.config.blobUrl))
  const part = new DiskBlobs(fileURLToPath(unmounted))
  for await (const { digest } of held.list()) {
    await part.put((await held.get(digest))!.body)
    break
  }
  const missing = expect.stringMatching(/^project \d+: its upload \d+ is missing$/)
  expect(await command(unmounted)).toMatchObject({ complete: false, problems: [missing], copied: 1 })
  expect(await currentLocation(world.db, unmounted)).toMatchObject({ moving_to: to })
  expect(await command(unmounted, true)).toMatchObject({ complete: true, problems: [missing] })
})

test('two moves to the same store at once both succeed', async () => {
  const [configured, to] = [folder(), folder()]
  const blobs = new LocatedBlobs(world.db, { configured })
  const stored = await Promise.all(Array.from({ length: 20 }, (_, n) => put(blobs, `blob ${n}`)))
  const moves = await Promise.all([move(configured, to), move(configured, to)])
  expect(moves.map(({ complete }) => complete)).toEqual([true, true])
  const target = new DiskBlobs(fileURLToPath(to))
  for (const { digest, sizeBytes } of stored) expect(await target.size(digest)).toBe(sizeBytes)
})

test.skipIf(!hasS3)('a move to object storage that fails in the middle continues when it works again', async () => {
  await using proxy = await TcpProxy.start(server!.port)
  const [configured, to] = [folder(), await server!.bucket(unique('bucket'), { port: proxy.port })]
  const blobs = new LocatedBlobs(world.db, { configured })
  const stored = await Promise.all(Array.from({ length: 200 }, () => put(blobs, randomBytes(2000))))
  // Room for some of them, so that the move cannot be complete when the server ends.
  proxy.freezeAfter(200_000)
  const failed = expect(move(configured, to)).rejects.toMatchObject({ kind: 'unavailable' })
  const bucketName = new URL(to).host
  await eventually(async () => expect((await server!.files(bucketName)).length).toBeGreaterThan(20))
  await server!.kill()
  proxy.release()
  await failed
  // New blobs wait for the new store; the others are read from the old one.
  await expect(put(blobs, 'new')).rejects.toMatchObject({ kind: 'unavailable' })
  for (const { digest } of stored) expect((await read(blobs, digest))?.length).toBe(2000)
  await server!.restart()
  expect(await move(configured, to)).toMatchObject({ complete: true, problems: [] })
  // The server may have left what it was writing when it was killed.
  const objects = (await server!.files(bucketName)).filter((path) => !path.includes('.sgwtmp'))
  // An upload that it had completed, but not confirmed, has another object now. Tidying removes the first one.
  const { stored: complete, uploading: unconfirmed = 0 } = await objectStates(world, storeName(to))
  expect(complete).toBe(200)
  expect(objects.length).toBeGreaterThanOrEqual(200)
  expect(objects.length).toBeLessThanOrEqual(200 + unconfirmed)
})

test('nothing is collected during a move and for a day after it', async () => {
  const [configured, to] = [folder(), folder()]
  const blobs = new LocatedBlobs(world.db, { configured })
  const { digest } = await put(blobs, 'unused')
  await move(configured, to)
  expect([await blobs.delete(digest), await blobs.has(digest)]).toEqual([false, true])
})

test('a blob stored in the old store by a process that has not noticed the move is in the new one, too', async () => {
  const [configured, to] = [folder(), folder()]
  const blobs = new LocatedBlobs(world.db, { configured })
  await put(blobs, 'first')
  const source = new Readable({ read() {} })
  const storing = blobs.put(source)
  source.push(Buffer.from('begun before the move'))
  await move(configured, to)
  source.push(null)
  const { digest } = await storing
  expect(await read(new DiskBlobs(fileURLToPath(to)), digest)).toEqual(Buffer.from('begun before the move'))
})

describe('the setting and the location of blobs at a start', () => {
  const settle = (configured: string, hasFiles = false) =>
    settleLocation(world.db, {
      configured,
      hasFilesByDefault: async () => hasFiles,
      requireUsable: async () => [],
      requireOwn: async () => {},
    })
  const [one, other, cloud] = ['file:///srv/one', 'file:///srv/other', 's3://bucket/stithy']

  test('the first start accepts any store, unless the data folder already has blobs', async () => {
    await expect(settle(cloud, true)).rejects.toThrow(
      'Blobs are stored in the folder blobs in the data folder, and STITHY_BLOB_URL names s3://bucket/stithy. ',
    )
    expect(await settle(cloud)).toEqual([])
    expect(await settle(`${cloud}?endpoint=http://127.0.0.1:9`)).toEqual([])
  })

  test('a store is known after a start with the same URL that succeeded', async () => {
    const states: object[] = []
    const settleWith = (configured: string, requireUsable: (state: object) => Promise<string[]>) =>
      settleLocation(world.db, {
        configured,
        hasFilesByDefault: async () => false,
        requireUsable: (url, state) => requireUsable({ url, ...state }),
        requireOwn: async () => {},
      })
    const note = async (state: object) => {
      states.push(state)
      return ['a notice']
    }
    await expect(settleWith(cloud, () => Promise.reject(new Error('no such bucket')))).rejects.toThrow('no such bucket')
    for (const url of [cloud, cloud, `${cloud}?endpoint=http://127.0.0.1:9`])
      expect(await settleWith(url, note)).toEqual(['a notice'])
    expect(states).toEqual([
      { url: cloud, isKnown: false, mayBeNew: false },
      { url: cloud, isKnown: true, mayBeNew: false },
      { url: `${cloud}?endpoint=http://127.0.0.1:9`, isKnown: false, mayBeNew: false },
    ])
  })

  test('a folder may have been moved by the operator, object storage not', async () => {
    await settle(one)
    // Commands know it before the next start.
    expect(await currentLocation(world.db, other)).toMatchObject({ url: other })
    await expect(move(other, other)).rejects.toThrow('Blobs are already stored in /srv/other.')
    expect(await settle(other)).toEqual([])
    await expect(settle(cloud)).rejects.toThrow('Blobs are stored in /srv/other, and STITHY_BLOB_URL names s3://bucket')
    await forgetLocation(world)
    await settle(cloud)
    await expect(settle(one)).rejects.toThrow('Blobs are stored in s3://bucket/stithy, and STITHY_BLOB_URL names /srv')
    await expect(settle('s3://bucket/other')).rejects.toThrow(
      'Set it back, and run stithy blobs move --to s3://bucket/',
    )
  })

  test('after a move a start with the old setting works and says what to set', async () => {
    const [from, to] = [folder(), folder()]
    await settle(from)
    await move(from, to)
    expect(await settle(from)).toEqual([`Blobs have been moved to ${fileURLToPath(to)}: set STITHY_BLOB_URL=${to}`])
    expect(await settle(to)).toEqual([])
    // The operator has moved the folder back.
    expect(await settle(from)).toEqual([])
  })
})

test('a move takes along a blob whose deletion a crash interrupted', async () => {
  const [from, to] = [folder(), folder()]
  const path = fileURLToPath(from)
  const store = new DiskBlobs(path)
  const [{ digest }, other] = [await put(store, 'wanted again'), await put(store, 'other')]
  await mkdir(join(path, 'leaving'))
  await rename(join(path, 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest), join(path, 'leaving', digest))
  expect(await move(from, to)).toMatchObject({ copied: 2, complete: true })
  const moved = new LocatedBlobs(world.db, { configured: to })
  expect([await read(moved, digest), await read(moved, other.digest)].map(String)).toEqual(['wanted again', 'other'])
})
