import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasS3, S3Server, s3Env } from '../../test/s3/server.ts'
import { ageUnfinished, objectStates } from '../../test/tables/blobs.ts'
import { TcpProxy } from '../../test/tcp-proxy.ts'
import { eventually } from '../../test/waiting.ts'
import { unique, World } from '../../test/world.ts'
import type { Digest } from './blob-store.ts'
import { blobStoreSuite } from './conformance.ts'
import { storeName } from './location.ts'
import { S3Blobs } from './s3.ts'

const mebibyte = 1024 * 1024
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex') as Digest
const streamOf = (...chunks: Buffer[]) => Readable.from(chunks)

describe.skipIf(!hasS3)('object storage (skipped without test/s3/install)', () => {
  let world: World
  let server: S3Server
  beforeAll(async () => {
    ;[world, server] = await Promise.all([World.start(), S3Server.start()])
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  /** A store in a new bucket. */
  const fresh = async ({ port, prefix }: { port?: number; prefix?: string } = {}) => {
    const bucket = unique('bucket')
    const url = await server.bucket(bucket, {
      ...(port !== undefined && { port }),
      ...(prefix !== undefined && { prefix }),
    })
    const store = new S3Blobs(url, world.db, { connectMs: 3000, answerMs: 20_000, stalledMs: 20_000 })
    return { url, bucket, store, files: () => server.files(bucket), states: () => objectStates(world, storeName(url)) }
  }
  /** A proxy in front of the server. */
  const proxied = async () => {
    const proxy = await TcpProxy.start(server.port)
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    return proxy
  }

  blobStoreSuite('S3 blob store', async () => (await fresh()).store)
  blobStoreSuite('S3 blob store without a prefix', async () => (await fresh({ prefix: '' })).store)

  describe('large blobs', () => {
    test('a blob of several parts is read whole and by ranges, with and without an announced size', async () => {
      const { store, files } = await fresh()
      for (const sizeBytes of [5 * mebibyte, 10 * mebibyte, 12_345_678]) {
        const bytes = randomBytes(sizeBytes)
        const blob = { digest: digestOf(bytes), sizeBytes }
        const chunks = () => streamOf(bytes.subarray(0, 7_000_000), bytes.subarray(7_000_000))
        expect(await store.put(chunks())).toEqual(blob)
        expect(await store.put(chunks(), blob)).toEqual(blob)
        expect((await buffer((await store.get(blob.digest))!.body)).equals(bytes)).toBe(true)
        const range = { start: 5 * mebibyte - 3, end: 5 * mebibyte - 1 }
        expect(await buffer((await store.get(blob.digest, range))!.body)).toEqual(
          bytes.subarray(range.start, range.end + 1),
        )
      }
      expect(await files()).toHaveLength(3)
    })

    test('an upload that ends early, or has another digest than announced, leaves no parts in the store', async () => {
      const { store, files, states } = await fresh()
      const bytes = randomBytes(11_000_000)
      const broken = new PassThrough()
      const failed = expect(store.put(broken)).rejects.toThrow('gone')
      broken.write(bytes)
      await eventually(async () => expect(await files()).not.toEqual([]))
      broken.destroy(new Error('gone'))
      await failed
      const other = { digest: digestOf(Buffer.from('other')), sizeBytes: bytes.length }
      await expect(store.put(streamOf(bytes), other)).rejects.toMatchObject({ kind: 'unprocessable' })
      expect([await files(), await states()]).toEqual([[], {}])
    })

    test('an object that the store completed without a client learning it is removed by tidying', async () => {
      const lossy = createServer((asked, answer) => {
        const { method, headers, url: path = '' } = asked
        const passed = request({ port: server.port, method, headers, path }, (found) => {
          if (method === 'POST' && path.includes('uploadId='))
            return void found.resume().on('end', () => asked.socket.destroy())
          answer.writeHead(found.statusCode!, found.headers)
          found.pipe(answer)
        })
        asked.pipe(passed)
      })
      await once(lossy.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void lossy.close())
      const { store, files, states } = await fresh({ port: (lossy.address() as AddressInfo).port })
      await expect(store.put(streamOf(randomBytes(6 * mebibyte)))).rejects.toMatchObject({ kind: 'unavailable' })
      expect([(await files()).length, await states()]).toEqual([1, { uploading: 1 }])
      await ageUnfinished(world)
      await store.tidy(new Date(Date.now() - 60_000))
      expect([await files(), await states()]).toEqual([[], {}])
    })

    test('a client that sends slowly learns at once that a part cannot be stored', async () => {
      const { store, files } = await fresh({ port: (await proxied()).port })
      const source = new PassThrough()
      const failed = expect(store.put(source)).rejects.toMatchObject({ kind: 'unavailable' })
      source.write(randomBytes(6_000_000))
      await eventually(async () => expect(await files()).not.toEqual([]))
      await server.kill()
      onTestFinished(() => server.restart())
      // The next part fails; the client sends nothing more, and does not close.
      source.write(randomBytes(6_000_000))
      await failed
      expect(source.destroyed).toBe(true)
    })
  })

  describe('several processes', () => {
    test('equal blobs stored at the same time by two processes become one object', async () => {
      const { url, store, files, states } = await fresh()
      const other = new S3Blobs(url, world.db)
      const bytes = randomBytes(100_000)
      await Promise.all(Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? store : other).put(streamOf(bytes))))
      expect([(await files()).length, await states()]).toEqual([1, { stored: 1 }])
    })

    test('no blob stored by one process is lost to deletion in another', async () => {
      const { url, store } = await fresh()
      const other = new S3Blobs(url, world.db)
      const bytes = randomBytes(1000)
      const { digest } = await store.put(streamOf(bytes))
      let going = true
      const deleting = (async () => {
        // Everything older than this moment.
        while (going) await other.delete(digest, { unlessStoredSince: new Date() })
      })()
      const began = new Date()
      for (let round = 0; round < 20; round++) await store.put(streamOf(bytes))
      going = false
      await deleting
      await store.put(streamOf(bytes))
      expect(await other.delete(digest, { unlessStoredSince: began })).toBe(false)
      expect(await buffer((await other.get(digest))!.body)).toEqual(bytes)
    })
  })

  describe('tidying', () => {
    test('uploads that crashes left are removed, those that go on are not', async () => {
      const { url, store, files, states } = await fresh()
      const bytes = randomBytes(12_000_000)
      // A process that ends in the middle of an upload leaves the same: parts and a row.
      const crashed = new PassThrough()
      const never = store.put(crashed)
      crashed.write(randomBytes(12_000_000))
      await eventually(async () => expect(await files()).toHaveLength(2))
      await ageUnfinished(world)
      const running = new PassThrough()
      const stored = new S3Blobs(url, world.db).put(running)
      running.write(bytes)
      await eventually(async () => expect(await files()).toHaveLength(4))

      await store.tidy(new Date(Date.now() - 60_000))
      running.end()
      expect(await stored).toEqual({ digest: digestOf(bytes), sizeBytes: bytes.length })
      expect(await store.size(digestOf(bytes))).toBe(bytes.length)
      // Should it go on all the same, it is not acknowledged.
      crashed.end()
      await expect(never).rejects.toMatchObject({ kind: 'unavailable' })
      await ageUnfinished(world)
      await store.tidy(new Date(Date.now() - 60_000))
      expect([(await files()).length, await states()]).toEqual([1, { stored: 1 }])
    })

    test('uploads and objects of other programs in the bucket stay', async () => {
      const { bucket, store } = await fresh({ prefix: '' })
      await writeFile(`${server.folder}/data/${bucket}/notes.txt`, 'mine')
      await store.tidy(new Date(Date.now() + 60_000))
      expect(await store.countUnknown()).toBe(0)
      expect(await readFile(`${server.folder}/data/${bucket}/notes.txt`, 'utf8')).toBe('mine')
    })

    test('objects that a restored database does not know are counted and stay', async () => {
      const { store, files } = await fresh()
      const { digest } = await store.put(streamOf(Buffer.from('older')))
      const [path] = await files()
      const newer = '11111111-2222-4333-8444-555555555555'
      await writeFile(path!.replace(/[^/]+$/, newer), 'newer')
      await store.tidy(new Date(Date.now() + 60_000))
      expect([await store.countUnknown(), await store.has(digest), (await files()).length]).toEqual([1, true, 2])
    })
  })

  describe('faults of the store', () => {
    test('a blob whose object is gone is missing, and storing it again repairs it', async () => {
      const { store, files } = await fresh()
      const bytes = randomBytes(1000)
      const { digest } = await store.put(streamOf(bytes))
      await rm((await files())[0]!)
      expect([await store.get(digest), await store.size(digest)]).toEqual([undefined, undefined])
      await store.put(streamOf(bytes))
      expect(await buffer((await store.get(digest))!.body)).toEqual(bytes)
    })

    test('a reader of an object with other bytes gets an error instead of the last of them', async () => {
      const { store, files } = await fresh()
      const bytes = randomBytes(300_000)
      const { digest } = await store.put(streamOf(bytes))
      const [path] = await files()
      const damaged = Buffer.from(bytes)
      damaged[150_000]! ^= 1
      await writeFile(path!, damaged)
      const { body } = (await store.get(digest))!
      let read = 0
      await expect(
        (async () => {
          for await (const chunk of body) read += chunk.length
        })(),
      ).rejects.toMatchObject({ kind: 'unavailable' })
      expect(read).toBeLessThan(bytes.length)
      await truncate(path!, 1000)
      await expect(store.get(digest)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await store.size(digest)).toBe(1000)
    })

    test('without the store everything fails with unavailable, and nothing is acknowledged', async () => {
      const { store, states } = await fresh()
      const { digest } = await store.put(streamOf(Buffer.from('before')))
      await server.kill()
      const gone = { kind: 'unavailable', retryAfterSeconds: expect.any(Number) }
      const source = streamOf(randomBytes(100))
      await expect(store.put(source)).rejects.toMatchObject(gone)
      await expect(store.get(digest)).rejects.toMatchObject(gone)
      await expect(store.has(digest)).rejects.toMatchObject(gone)
      await expect(store.ping()).rejects.toMatchObject(gone)
      expect(await states()).toEqual({ stored: 1, uploading: 1 })
      await server.restart()
      expect((await buffer((await store.get(digest))!.body)).toString()).toBe('before')
      await ageUnfinished(world)
      await store.tidy(new Date(Date.now() - 60_000))
      expect(await states()).toEqual({ stored: 1 })
    })

    test('a store that accepts connections and does not answer fails a request', async () => {
      const proxy = await proxied()
      const { url } = await fresh({ port: proxy.port })
      const store = new S3Blobs(url, world.db, { connectMs: 3000, answerMs: 300, stalledMs: 300 })
      proxy.hold(() => true)
      await expect(store.put(streamOf(Buffer.from('x')))).rejects.toMatchObject({ kind: 'unavailable' })
      await expect(store.ping()).rejects.toMatchObject({ kind: 'unavailable' })
    })

    test('a download that the store stops sending fails, and one whose reader pauses goes on', async () => {
      const proxy = await proxied()
      const { url } = await fresh({ port: proxy.port })
      const store = new S3Blobs(url, world.db, { connectMs: 3000, answerMs: 20_000, stalledMs: 2_000 })
      const bytes = randomBytes(20 * mebibyte)
      const { digest } = await store.put(streamOf(bytes))
      const paused = (await store.get(digest))!.body
      await new Promise((resolve) => setTimeout(resolve, 4_000))
      expect((await buffer(paused)).equals(bytes)).toBe(true)
      const { body } = (await store.get(digest))!
      body.once('data', () => proxy.freeze())
      body.resume()
      const [error] = await once(body, 'error')
      expect(error).toMatchObject({ kind: 'unavailable' })
    })

    test('a reader that leaves ends its request to the store', async () => {
      const proxy = await proxied()
      const { store } = await fresh({ port: proxy.port })
      const { digest } = await store.put(streamOf(randomBytes(20 * mebibyte)))
      const { body } = (await store.get(digest))!
      await once(body, 'readable')
      body.destroy()
      await eventually(() => expect(proxy.open).toBeLessThanOrEqual(1))
      const leaving = new AbortController()
      proxy.hold(() => true)
      proxy.freeze()
      const waiting = expect(store.get(digest, undefined, { signal: leaving.signal })).rejects.toThrow('left')
      leaving.abort(new Error('left'))
      await waiting
    })

    test('an upload fails when its credentials are revoked in the middle, and succeeds with new ones', async () => {
      const { store, files } = await fresh()
      const bytes = randomBytes(12_000_000)
      const source = new PassThrough()
      const failed = expect(store.put(source)).rejects.toMatchObject({ kind: 'unavailable' })
      source.write(bytes)
      await eventually(async () => expect(await files()).toHaveLength(2))
      await server.kill()
      await server.restart('another-secret')
      onTestFinished(async () => {
        await server.kill()
        await server.restart(s3Env.AWS_SECRET_ACCESS_KEY)
      })
      source.end(bytes)
      await failed
      expect(await store.get(digestOf(Buffer.concat([bytes, bytes])))).toBeUndefined()
      await expect(store.probe()).rejects.toThrow(/^cannot write: SignatureDoesNotMatch: .* \(status 403\)$/)
    })
  })

  describe('links', () => {
    test('a link reads one blob with fixed headers, and grants nothing else', async () => {
      const { store } = await fresh()
      const bytes = randomBytes(1000)
      const { digest } = await store.put(streamOf(bytes))
      const second = await store.put(streamOf(randomBytes(1000)))
      const as = { contentType: 'text/plain', disposition: `attachment; filename*=UTF-8''a%20b.txt` }
      const link = (await store.link(digest, as))!
      const answer = await fetch(link)
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
        200,
        as.contentType,
        as.disposition,
      ])
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
      expect(Buffer.from(await (await fetch(link, { headers: { range: 'bytes=10-19' } })).arrayBuffer())).toEqual(
        bytes.subarray(10, 20),
      )
      const keyOf = (url: string) => new URL(url).pathname.split('/').at(-1)!
      const ofSecond = keyOf((await store.link(second.digest, as))!)
      const refused: [string, RequestInit?][] = [
        [link, { method: 'PUT', body: 'x' }],
        [link, { method: 'DELETE' }],
        [link.replace(keyOf(link), ofSecond)],
        [link.replace('text%2Fplain', 'text%2Fhtml')],
        [link.replace('attachment', 'inline')],
        [link.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=600')],
        [link.replace(/\?.*/, '')],
      ]
      const statuses = await Promise.all(refused.map(async ([url, init]) => (await fetch(url, init)).status))
      expect(statuses).toEqual(refused.map(() => 403))
      expect(Number(new URL(link).searchParams.get('X-Amz-Expires'))).toBe(120)
      expect(await store.link(digestOf(Buffer.from('none')), as)).toBeUndefined()
    })
  })
})
