import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate as deflateCallback, deflateSync } from 'node:zlib'
import { syncFolder } from '../../kernel/durable.ts'
import { packTypes } from '../format/pack-format.ts'
import type { Repository } from '../repository/repository.ts'
import { compression, type NewObject, writeObjects } from './objects.ts'

const deflate = promisify(deflateCallback)

/** Up to this many objects stay loose, as with git's `receive.unpackLimit`. */
const looseObjects = 100

/** Like `writeObjects`, but stores many objects as one pack: one process, and few files to sync. */
export async function storeObjects(repo: Repository, objects: readonly NewObject[]): Promise<void> {
  const unique = [...new Map(objects.map((object) => [object.oid, object])).values()]
  await (unique.length <= looseObjects ? writeObjects(repo, unique) : writePack(repo, unique))
}

/** Bytes that objects need on disk, compressed as they are when they are stored, before they are. */
export async function packedBytes(objects: readonly NewObject[]): Promise<number> {
  let total = 0
  for (const some of inBatches(objects)) {
    for (const { length } of await Promise.all(some.map(packedObject))) total += length
    await setImmediate()
  }
  return total
}

async function writePack(repo: Repository, objects: readonly NewObject[]): Promise<void> {
  const index = await repo.start('index-pack', { flags: ['--stdin'], stdin: true, lane: 'transfer' })
  index.resume()
  await pipeline(Readable.from(packed(objects)), index)
  await repo.requireSuccess('index-pack', await index.done)
  await syncFolder(join(repo.objectDir, 'pack'))
}

/** Maximum objects and bytes compressed and written before the event loop gets a turn. */
const atOnce = { objects: 256, bytes: 1024 * 1024 }

/** Below this size, compressing here is faster than in another thread. */
const compressedHereBytes = 16 * 1024

/** The bytes of a pack: a header, each object compressed without deltas, the digest of everything (gitformat-pack). */
async function* packed(objects: readonly NewObject[]): AsyncGenerator<Buffer> {
  const digest = createHash('sha1')
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects.length, 8)
  digest.update(header)
  yield header
  for (const some of inBatches(objects)) {
    const bytes = Buffer.concat(await Promise.all(some.map(packedObject)))
    digest.update(bytes)
    yield bytes
    await setImmediate()
  }
  yield digest.digest()
}

function* inBatches(objects: readonly NewObject[]): Generator<readonly NewObject[]> {
  let batch: NewObject[] = []
  let bytes = 0
  for (const object of objects) {
    batch.push(object)
    bytes += object.content.length
    if (batch.length < atOnce.objects && bytes < atOnce.bytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function packedObject({ type, content }: NewObject): Promise<Buffer> {
  const options = compression(content.length)
  const isSmall = content.length < compressedHereBytes
  // A buffer of the expected size; zlib's default is far larger than a small object needs.
  const chunkSize = content.length + 64
  const compressed = isSmall ? deflateSync(content, { ...options, chunkSize }) : await deflate(content, options)
  return Buffer.concat([entryHeader(packTypes[type], content.length), compressed])
}

/** Type and size: four bits of the size, then seven per byte, lowest first; the high bit marks continuation. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = []
  let byte = (type << 4) | (size & 0x0f)
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
  }
  bytes.push(byte)
  return Buffer.from(bytes)
}
