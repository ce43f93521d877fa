import type { FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { type Comparison, outlineBytes, outlineOf, type Sketch } from './sketch.ts'

/** The first version had no introductions and no outlines. */
const magic = 0x3253_5453
export const headerBytes = 16
const idBytes = 20

/** How much of a file is read at once. No sketch is as long: it has at most twice as many numbers as there are buckets. */
const pieceBytes = 512 * 1024

/**
 * Where a blob first came into the history: its commit, by the first four bytes of the id, and the generation of that commit, which is larger
 * than those of all its ancestors. No commit of a smaller generation has the blob.
 */
export type Introduction = { readonly generation: number; readonly commit: number }

/** A blob to store, with its binary id. Without a sketch, only its size is known. */
export type SketchedBlob = {
  readonly id: Buffer
  readonly sizeBytes: number
  readonly sketch: Sketch | undefined
  /** Absent if any commit may have it. */
  readonly introduction?: Introduction | undefined
}

/** The number of objects in the header of a file; `undefined` if the file is of another kind. */
export const objectsIn = (header: Buffer): number | undefined =>
  header.readUInt32LE(0) === magic ? header.readUInt32LE(4) : undefined

/** Whether two binary object ids are equal; a call of `Buffer.compare` takes several times as long. */
export function isSameId(ids: Buffer, at: number, otherIds: Buffer, otherAt: number): boolean {
  for (let byte = 0; byte < idBytes; byte++) if (ids[at + byte] !== otherIds[otherAt + byte]) return false
  return true
}

/** The content of a file with these blobs, each once. */
export function encodeSketches(objects: number, blobs: readonly SketchedBlob[]): Buffer {
  const sorted = blobs.toSorted((one, other) => one.id.compare(other.id))
  let end = 0
  const ends = Uint32Array.from(sorted, ({ sketch }) => (end += sketch?.length ?? 0))
  const sizes = Uint32Array.from(sorted, ({ sizeBytes }) => Math.min(sizeBytes, 0xffff_ffff))
  const sketches = new Uint16Array(end)
  for (const [index, { sketch }] of sorted.entries()) if (sketch) sketches.set(sketch, ends[index]! - sketch.length)
  const generations = Uint32Array.from(sorted, ({ introduction }) => introduction?.generation ?? 0)
  const commits = Uint32Array.from(sorted, ({ introduction }) => introduction?.commit ?? 0)
  const body = Buffer.concat([
    ...[ends, sizes, generations, commits, sketches].map(({ buffer }) => Buffer.from(buffer)),
    ...sorted.map(({ sketch }) => outlineOf(sketch)),
    ...sorted.map(({ id }) => id),
  ])
  const header = Buffer.alloc(headerBytes)
  for (const [at, word] of [magic, objects, sorted.length, crc32(body)].entries()) header.writeUInt32LE(word, 4 * at)
  return Buffer.concat([header, body])
}

/** How many blobs are compared at once, in two milliseconds. */
const blobsPerTurn = 16_384

/** Numbers of 32 bits for each blob. */
const wordsPerBlob = 4
const bytesPerBlob = 4 * wordsPerBlob + outlineBytes + idBytes

/**
 * Which blobs of a repository have a sketch in the file, and where: 104 bytes for each in memory. The sketches themselves are five times
 * as much, and stay on the disk. Immutable.
 */
export class SketchIndex {
  /** Approximate number of objects in the repository when the file was written. */
  readonly objects: number
  readonly sizeBytes: number
  readonly #ids: Buffer
  /** The first four bytes of the ids, which are sorted. */
  readonly #prefixes: Uint32Array
  /** Where the sketch of a blob ends, in numbers of 16 bits. */
  readonly #ends: Uint32Array
  readonly #sizes: Uint32Array
  readonly #generations: Uint32Array
  readonly #commits: Uint32Array
  readonly #outlines: Buffer

  private constructor(objects: number, words: Uint32Array, outlines: Buffer, ids: Buffer) {
    const count = words.length / wordsPerBlob
    this.objects = objects
    this.#ends = words.subarray(0, count)
    this.#sizes = words.subarray(count, 2 * count)
    this.#generations = words.subarray(2 * count, 3 * count)
    this.#commits = words.subarray(3 * count)
    this.#outlines = outlines
    this.#ids = ids
    this.#prefixes = Uint32Array.from({ length: count }, (_, at) => ids.readUInt32BE(at * idBytes))
    this.sizeBytes = count * (bytesPerBlob + 4)
  }

  /** Without any blob. */
  static readonly empty = new SketchIndex(0, new Uint32Array(), Buffer.alloc(0), Buffer.alloc(0))

  /** Reads the whole file once, to know that it is sound; `undefined` if it was not made by `encodeSketches` or is damaged. */
  static async read(file: FileHandle): Promise<SketchIndex | undefined> {
    const header = await readAt(file, 0, Buffer.alloc(headerBytes))
    const objects = header.length === headerBytes ? objectsIn(header) : undefined
    if (objects === undefined) return undefined
    const [count, sum] = [header.readUInt32LE(8), header.readUInt32LE(12)]
    const bodyBytes = (await file.stat()).size - headerBytes
    if (count * bytesPerBlob > bodyBytes) return undefined
    const words = new Uint32Array(wordsPerBlob * count)
    const outlines = Buffer.alloc(outlineBytes * count)
    const ids = Buffer.alloc(idBytes * count)
    const parts = [
      { at: 0, into: Buffer.from(words.buffer) },
      { at: bodyBytes - ids.length - outlines.length, into: outlines },
      { at: bodyBytes - ids.length, into: ids },
    ]
    const buffer = Buffer.alloc(pieceBytes)
    let found = 0
    for (let at = 0; at < bodyBytes; at += pieceBytes) {
      const piece = await readAt(file, headerBytes + at, buffer)
      found = crc32(piece, found)
      for (const part of parts) copyOverlap(piece, at, part)
    }
    const ends = words.subarray(0, count)
    const isSound = found === sum && ends.every((end, at) => at === 0 || end >= ends[at - 1]!)
    return isSound && bodyBytes === 2 * (ends.at(-1) ?? 0) + count * bytesPerBlob
      ? new SketchIndex(objects, words, outlines, ids)
      : undefined
  }

  /** The index of the blob whose binary id is at `at` in `ids`; -1 if it is not in the file. */
  find(ids: Buffer, at: number): number {
    const prefix = ids.readUInt32BE(at)
    let low = 0
    let high = this.#prefixes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#prefixes[middle]! < prefix) low = middle + 1
      else high = middle
    }
    for (; this.#prefixes[low] === prefix; low++) if (isSameId(this.#ids, low * idBytes, ids, at)) return low
    return -1
  }

  /** Size of a blob in bytes. */
  blobBytes = (index: number): number => this.#sizes[index]!

  /** Where a blob first came into the history; `undefined` if that is not known. */
  introduction(index: number): Introduction | undefined {
    const generation = this.#generations[index]!
    return generation === 0 ? undefined : { generation, commit: this.#commits[index]! }
  }

  /** Whether a blob may be similar, by its outline. */
  isMaybeSimilar = (index: number, comparison: Comparison): boolean =>
    comparison.isOutlineSimilar(this.#sizes[index]!, this.#outlines, index * outlineBytes)

  /** The blobs that commits before this generation may have, and that may be similar. Some milliseconds for 50,000 blobs. */
  async maybeSimilarBefore(generation: number, comparison: Comparison): Promise<number[]> {
    const found: number[] = []
    for (let index = 0; index < this.#generations.length; index++) {
      if ((index + 1) % blobsPerTurn === 0) await setImmediate()
      if (this.#generations[index]! < generation && this.isMaybeSimilar(index, comparison)) found.push(index)
    }
    return found
  }

  /** Reads the sketches of blobs, each once, in the order of the file; empty for a blob without one. Valid until the next one. */
  async *sketches(file: FileHandle, blobs: readonly number[]): AsyncGenerator<readonly [index: number, Sketch]> {
    const buffer = Buffer.from(new ArrayBuffer(pieceBytes))
    let piece: Uint16Array = new Uint16Array()
    let pieceAt = 0
    for (const index of [...new Set(blobs)].sort((one, other) => one - other)) {
      const [start, end] = [index === 0 ? 0 : this.#ends[index - 1]!, this.#ends[index]!]
      if (end > pieceAt + piece.length) {
        const read = await readAt(file, headerBytes + 4 * wordsPerBlob * this.#ends.length + 2 * start, buffer)
        piece = new Uint16Array(read.buffer, 0, read.length >> 1)
        pieceAt = start
      }
      yield [index, piece.subarray(start - pieceAt, end - pieceAt)]
    }
  }
}

/** Fills a buffer from a file; the part that was filled, at its end less. */
async function readAt(file: FileHandle, at: number, buffer: Buffer): Promise<Buffer> {
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
  return buffer.subarray(0, bytesRead)
}

/** Copies what `piece`, which begins at `at` of the whole, has of a part of the whole. */
function copyOverlap(piece: Buffer, at: number, part: { readonly at: number; readonly into: Buffer }): void {
  const start = Math.max(at, part.at)
  const end = Math.min(at + piece.length, part.at + part.into.length)
  if (start < end) piece.copy(part.into, start - part.at, start - at, end - at)
}
