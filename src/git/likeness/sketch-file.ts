import { crc32 } from 'node:zlib'
import type { Sketch } from './sketch.ts'

const magic = 0x4b53_5453
export const headerBytes = 16
const idBytes = 20

/** A blob to store, with its binary id. Without a sketch, only its size is known. */
export type SketchedBlob = { readonly id: Buffer; readonly sizeBytes: number; readonly sketch: Sketch | undefined }

/** The number of objects in the header of a file; `undefined` if the file is of another kind. */
export const objectsIn = (header: Buffer): number | undefined =>
  header.readUInt32LE(0) === magic ? header.readUInt32LE(4) : undefined

/** Whether two binary object ids are equal; a call of `Buffer.compare` takes several times as long. */
export function isSameId(ids: Buffer, at: number, otherIds: Buffer, otherAt: number): boolean {
  for (let byte = 0; byte < idBytes; byte++) if (ids[at + byte] !== otherIds[otherAt + byte]) return false
  return true
}

/** The sketches of the blobs of a repository, found by id. Immutable; blobs that it lacks must be read. */
export class SketchFile {
  /** Approximate number of objects in the repository when it was written. */
  readonly objects: number
  readonly sizeBytes: number
  readonly sketches: Uint16Array
  readonly #ids: Buffer
  /** The first four bytes of the ids, which are sorted. */
  readonly #prefixes: Uint32Array
  readonly #ends: Uint32Array
  readonly #sizes: Uint32Array

  private constructor(objects: number, count: number, body: Buffer) {
    const words = new Uint32Array(body.buffer, body.byteOffset, 2 * count)
    this.objects = objects
    this.sizeBytes = body.length + 4 * count
    this.#ends = words.subarray(0, count)
    this.#sizes = words.subarray(count)
    const sketchesAt = 8 * count
    this.#ids = body.subarray(body.length - idBytes * count)
    this.sketches = new Uint16Array(
      body.buffer,
      body.byteOffset + sketchesAt,
      (body.length - sketchesAt - this.#ids.length) / 2,
    )
    this.#prefixes = Uint32Array.from({ length: count }, (_, at) => this.#ids.readUInt32BE(at * idBytes))
  }

  /** Without any blob. */
  static readonly empty = new SketchFile(0, 0, Buffer.from(new ArrayBuffer(0)))

  /** Reads the content of a file; `undefined` if it was not written by `encode` or is damaged. */
  static parse(file: Buffer): SketchFile | undefined {
    if (file.length < headerBytes || file.readUInt32LE(0) !== magic) return undefined
    const [objects, count, sum] = [file.readUInt32LE(4), file.readUInt32LE(8), file.readUInt32LE(12)]
    // A copy, because the parts must be aligned in memory.
    const body = Buffer.from(new Uint8Array(file.subarray(headerBytes)).buffer)
    if (count * (8 + idBytes) > body.length || crc32(body) !== sum) return undefined
    const found = new SketchFile(objects, count, body)
    return found.#isConsistent() ? found : undefined
  }

  #isConsistent(): boolean {
    let last = 0
    for (const end of this.#ends) {
      if (end < last) return false
      last = end
    }
    return last === this.sketches.length
  }

  /** The content of a file with these blobs, each once. */
  static encode(objects: number, blobs: readonly SketchedBlob[]): Buffer {
    const sorted = blobs.toSorted((one, other) => one.id.compare(other.id))
    let end = 0
    const ends = Uint32Array.from(sorted, ({ sketch }) => (end += sketch?.length ?? 0))
    const sizes = Uint32Array.from(sorted, ({ sizeBytes }) => Math.min(sizeBytes, 0xffff_ffff))
    const sketches = new Uint16Array(end)
    for (const [index, { sketch }] of sorted.entries()) if (sketch) sketches.set(sketch, ends[index]! - sketch.length)
    const body = Buffer.concat([
      ...[ends, sizes, sketches].map(({ buffer }) => Buffer.from(buffer)),
      ...sorted.map(({ id }) => id),
    ])
    const header = Buffer.alloc(headerBytes)
    for (const [at, word] of [magic, objects, sorted.length, crc32(body)].entries()) header.writeUInt32LE(word, 4 * at)
    return Buffer.concat([header, body])
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

  /** The part of `sketches` that belongs to a blob; empty if there is none. */
  rangeOf = (index: number): readonly [start: number, end: number] => [
    index === 0 ? 0 : this.#ends[index - 1]!,
    this.#ends[index]!,
  ]
}
