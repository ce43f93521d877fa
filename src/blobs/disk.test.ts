import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { ownerMark } from '../kernel/owner-mark.ts'
import { parseDigest } from './blob-store.ts'
import { blobStoreSuite } from './conformance.ts'
import { DiskBlobs } from './disk.ts'

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'stithy-blobs-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

blobStoreSuite('disk blob store', async () => new DiskBlobs(await folder()))

test('no temporary files remain after stored, duplicate and failed blobs', async () => {
  const path = await folder()
  const store = new DiskBlobs(path)
  await store.put(Readable.from([Buffer.from('x')]))
  await store.put(Readable.from([Buffer.from('x')]))
  await expect(
    store.put(
      new Readable({
        read() {
          this.destroy(new Error('gone'))
        },
      }),
    ),
  ).rejects.toThrow('gone')
  expect(await readdir(join(path, 'tmp'))).toEqual([])
})

test('tidy restores half-deleted blobs and removes old half-stored ones', async () => {
  const path = await folder()
  const store = new DiskBlobs(path)
  const { digest } = await store.put(Readable.from([Buffer.from('x')]))
  await mkdir(join(path, 'leaving'), { recursive: true })
  await rename(join(path, 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest), join(path, 'leaving', digest))
  await writeFile(join(path, 'tmp', 'unfinished'), 'half')
  expect(await store.has(digest)).toBe(true)
  await store.tidy(new Date(0))
  expect([await readdir(join(path, 'leaving')), await readdir(join(path, 'tmp'))]).toEqual([[], ['unfinished']])
  await store.tidy(new Date(Date.now() + 1000))
  expect([await store.has(digest), await readdir(join(path, 'tmp'))]).toEqual([true, []])
})

test('tidy removes a young half-stored blob whose process was killed, and none of a process that may be running', async () => {
  const path = await folder()
  await mkdir(join(path, 'tmp'))
  const gone = spawnSync('true').pid
  const own = ownerMark()
  const [here] = own.split('-')
  const names = [own, `${here}-${gone}`, `00000000-${gone}`].map((mark) => `${mark}-${randomUUID()}`)
  for (const name of names) await writeFile(join(path, 'tmp', name), 'half')
  await new DiskBlobs(path).tidy(new Date(0))
  expect(await readdir(join(path, 'tmp'))).toEqual([names[0]!, names[2]!].toSorted())
})

test.for(['', 'abc', 'A'.repeat(64), '0'.repeat(65), `../${'0'.repeat(64)}`])('%j is not a digest', (text) => {
  expect(parseDigest(text)).toBeUndefined()
})
