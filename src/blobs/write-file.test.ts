import { hash, randomBytes } from 'node:crypto'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/world.ts'
import { freedChunks } from '../edges/http/body/freed-chunks.ts'
import { writeFileOf } from './write-file.ts'

const anySize = () => {}

/** The chunks of the content, each in memory of its own, which is overwritten once the next one is requested. */
async function* chunksOf(content: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += bytes) {
    const chunk = Buffer.from(content.subarray(at, at + bytes))
    yield chunk
    chunk.fill(0)
  }
}

test('a file has the bytes and the digest of chunks of any size, whose memory is used again at once', async () => {
  await using folder = await temporaryFolder()
  const content = randomBytes(1_000_003)
  for (const bytes of [17, 4096, 65_536, 128 * 1024, 300_000, 2_000_000]) {
    const path = join(folder.path, String(bytes))
    expect(await writeFileOf(path, chunksOf(content, bytes), anySize)).toEqual({
      digest: hash('sha256', content, 'hex'),
      sizeBytes: content.length,
    })
    expect((await readFile(path)).equals(content)).toBe(true)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  }
  const empty = await writeFileOf(join(folder.path, 'empty'), chunksOf(Buffer.alloc(0), 1), anySize)
  expect(empty).toEqual({ digest: hash('sha256', '', 'hex'), sizeBytes: 0 })
})

test('files that are written at the same time do not mix', async () => {
  await using folder = await temporaryFolder()
  const contents = Array.from({ length: 20 }, () => randomBytes(400_000))
  const write = (content: Buffer, at: number) =>
    writeFileOf(join(folder.path, String(at)), chunksOf(content, 30_000), anySize)
  await Promise.all(contents.map(write))
  for (const [at, content] of contents.entries())
    expect((await readFile(join(folder.path, String(at)))).equals(content)).toBe(true)
})

test('a source that breaks leaves what arrived before, and a check that throws ends the reading', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'file')
  const content = randomBytes(300_000)
  const error = new Error('gone')
  async function* breaking() {
    yield* chunksOf(content, 70_000)
    throw error
  }
  const written = await writeFileOf(path, breaking(), anySize)
  expect(written).toEqual({ digest: hash('sha256', content, 'hex'), sizeBytes: content.length, broken: error })
  expect((await readFile(path)).equals(content)).toBe(true)
  await rm(path)
  const seen: number[] = []
  const check = (bytes: number) => {
    seen.push(bytes)
    if (bytes > 100_000) throw error
  }
  await expect(writeFileOf(path, chunksOf(content, 70_000), check)).rejects.toBe(error)
  expect(seen).toEqual([70_000, 140_000])
})

test('the memory of a chunk of a body is freed when the next one is requested, unless others share it', async () => {
  const alone = Buffer.allocUnsafeSlow(1000)
  const shared = Buffer.allocUnsafeSlow(1000)
  async function* body() {
    yield alone
    yield shared.subarray(0, 500)
  }
  const lengths: number[] = []
  for await (const chunk of freedChunks(body())) lengths.push(chunk.length)
  expect([lengths, alone.length, shared.length]).toEqual([[1000, 500], 0, 1000])
})
