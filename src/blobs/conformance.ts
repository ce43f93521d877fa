import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { BlobStore, Digest } from './blob-store.ts'
import { putFile } from './put-file.ts'

const hello = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824' as Digest
const read = async (store: BlobStore, digest: Digest, range?: { start: number; end: number }) => {
  const found = await store.get(digest, range)
  return found && (await buffer(found.body))
}

const storedAt = async (store: BlobStore, digest: Digest): Promise<Date> => {
  for await (const blob of store.list()) if (blob.digest === digest) return blob.storedAt
  throw new Error(`${digest} is not stored`)
}

/** The first time after `last` by the clock of the store, which may be coarser than ours. */
async function nextMoment(store: BlobStore, last: Date): Promise<Date> {
  for (;;) {
    const { digest } = await store.put(Readable.from([Buffer.from('a later blob')]))
    const now = await storedAt(store, digest)
    if (now > last) return now
  }
}

/** Tests that every blob store must pass. */
export function blobStoreSuite(name: string, open: () => Promise<BlobStore>): void {
  describe(name, () => {
    test('a stored blob is read by its SHA-256', async () => {
      const store = await open()
      expect(await store.put(Readable.from([Buffer.from('hel'), Buffer.from('lo')]))).toEqual({
        digest: hello,
        sizeBytes: 5,
      })
      expect((await read(store, hello))?.toString()).toBe('hello')
      expect((await read(store, hello, { start: 1, end: 3 }))?.toString()).toBe('ell')
      expect([await store.has(hello), await store.size(hello)]).toEqual([true, 5])
    })

    test('missing and deleted blobs are undefined', async () => {
      const store = await open()
      expect(await store.get(hello)).toBeUndefined()
      await store.put(Readable.from([Buffer.from('hello')]))
      expect([await store.delete(hello), await store.delete(hello)]).toEqual([true, false])
      expect([await store.has(hello), await store.size(hello), await store.get(hello)]).toEqual([
        false,
        undefined,
        undefined,
      ])
    })

    test('equal blobs are stored and listed once', async () => {
      const store = await open()
      await Promise.all(Array.from({ length: 8 }, () => store.put(Readable.from([Buffer.from('hello')]))))
      const listed = []
      for await (const each of store.list()) listed.push(each)
      expect(listed).toEqual([{ digest: hello, sizeBytes: 5, storedAt: expect.any(Date) }])
    })

    test('blobs are listed in the order of their digests, all or those after one', async () => {
      const store = await open()
      for (let n = 0; n < 20; n++) await store.put(Readable.from([Buffer.from(`blob ${n}`)]))
      const digestsAfter = async (after?: Digest) => {
        const digests: Digest[] = []
        for await (const { digest } of store.list(after)) digests.push(digest)
        return digests
      }
      const all = await digestsAfter()
      expect(all).toHaveLength(20)
      expect(all).toEqual(all.toSorted())
      for (const [index, digest] of all.entries()) expect(await digestsAfter(digest)).toEqual(all.slice(index + 1))
    })

    test('a source that is not read to the end is destroyed', async () => {
      const store = await open()
      const source = Readable.from([Buffer.from('hello'), Buffer.from('hello')])
      await expect(store.put(source, { digest: hello, sizeBytes: 5 })).rejects.toThrow()
      expect(source.destroyed).toBe(true)
      const broken = Readable.from([])
      broken.destroy(new Error('cannot be opened'))
      await expect(store.put(broken)).rejects.toThrow('cannot be opened')
    })

    test('a blob whose source fails is not stored', async () => {
      const store = await open()
      const broken = Readable.from(
        (async function* () {
          yield randomBytes(100_000)
          throw new Error('gone')
        })(),
      )
      await expect(store.put(broken)).rejects.toThrow('gone')
      const listed = []
      for await (const each of store.list()) listed.push(each)
      expect(listed).toEqual([])
    })

    test.for([
      ['another digest', { digest: '0'.repeat(64) as Digest, sizeBytes: 5 }],
      ['fewer bytes', { digest: hello, sizeBytes: 6 }],
      ['more bytes', { digest: hello, sizeBytes: 4 }],
    ] as const)('a blob that has %s than expected is not stored', async ([, expected]) => {
      const store = await open()
      await expect(store.put(Readable.from([Buffer.from('hello')]), expected)).rejects.toMatchObject({
        kind: 'unprocessable',
      })
      expect(await store.has(hello)).toBe(false)
      await store.put(Readable.from([Buffer.from('hello')]), { digest: hello, sizeBytes: 5 })
      expect(await store.has(hello)).toBe(true)
    })

    test('deletion keeps a blob stored since a given time, and the blob stays readable', async () => {
      const store = await open()
      const began = new Date(Date.now() - 60_000)
      await store.put(Readable.from([Buffer.from('hello')]))
      expect(await store.delete(hello, { unlessStoredSince: began })).toBe(false)
      expect((await read(store, hello))?.toString()).toBe('hello')
      expect(await store.delete(hello, { unlessStoredSince: new Date(Date.now() + 60_000) })).toBe(true)
      expect(await store.has(hello)).toBe(false)
    })

    test('a blob stored during its deletion remains', async () => {
      const store = await open()
      for (let round = 0; round < 50; round++) {
        await store.put(Readable.from([Buffer.from('hello')]))
        const since = await nextMoment(store, await storedAt(store, hello))
        const [, seen] = await Promise.all([
          store.delete(hello, { unlessStoredSince: since }),
          store.put(Readable.from([Buffer.from('hello')])).then(() => store.has(hello)),
        ])
        expect([seen, await store.has(hello)]).toEqual([true, true])
      }
    })

    test('a file becomes a blob, also if the blob exists', async () => {
      const store = await open()
      const folder = await mkdtemp(join(tmpdir(), 'stithy-files-'))
      const path = join(folder, 'file')
      for (const _ of [1, 2]) {
        await writeFile(path, 'hello')
        await putFile(store, path, { digest: hello, sizeBytes: 5 })
        expect((await read(store, hello))?.toString()).toBe('hello')
        expect(await readdir(folder)).toEqual([])
      }
      await rmdir(folder)
    })

    test('ranges of a blob are copied, if the store can', async () => {
      const store = await open()
      if (!store.copyTo) return
      const large = randomBytes(1_000_000)
      const { digest } = await store.put(Readable.from([large]))
      for (const [start, end] of [
        [0, large.length - 1],
        [7, 7],
        [300_000, 900_000],
      ] as const) {
        const parts: Buffer[] = []
        expect(await store.copyTo(digest, { start, end }, async (chunk) => void parts.push(Buffer.from(chunk)))).toBe(
          true,
        )
        expect(Buffer.concat(parts).equals(large.subarray(start, end + 1))).toBe(true)
      }
      const refused = store.copyTo(digest, { start: 0, end: 900_000 }, async () => {
        throw new Error('the reader has gone')
      })
      await expect(refused).rejects.toThrow('the reader has gone')
      await expect(store.copyTo(digest, { start: 0, end: 2_000_000 }, async () => {})).rejects.toThrow('ends at byte')
      expect(await store.copyTo(hello, { start: 0, end: 1 }, async () => {})).toBe(false)
    })

    test('large and empty blobs are stored', async () => {
      const store = await open()
      const large = randomBytes(5_000_000)
      const { digest } = await store.put(Readable.from([large]))
      expect((await read(store, digest))?.equals(large)).toBe(true)
      const empty = await store.put(Readable.from([]))
      expect(empty.sizeBytes).toBe(0)
      expect((await read(store, empty.digest))?.length).toBe(0)
    })
  })
}
