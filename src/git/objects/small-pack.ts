import { setImmediate } from 'node:timers/promises'
import { inflateSync } from 'node:zlib'
import { type Oid, oidBytes } from '../format/oid.ts'
import { packHeaderBytes, packTrailerBytes, packTypes } from '../format/pack-format.ts'
import type { ObjectType } from './cat-file.ts'
import { type NewObject, newObject } from './objects.ts'

/** What all objects of a pack, and each one that a delta builds on, may have: larger ones are left to git, which needs less memory. */
const maxContentBytes = 1024 * 1024

const types: ReadonlyMap<number, ObjectType> = new Map(
  (['commit', 'tree', 'blob', 'tag'] as const).map((type) => [packTypes[type], type]),
)
const offsetDelta = 6
const oidDelta = 7

/** Instructions of a delta, each of which may be a single byte. */
const maxInstructions = 16_000
/** Git accepts none that is shorter, in bytes. */
const minDeltaBytes = 4

/** After this many bytes of content, other requests have their turn. */
const turnBytes = 64 * 1024

/** What a delta builds on: an object that the repository has. */
export type Base = { readonly type: ObjectType; readonly content: Buffer }

/** Something about a pack that is not known here to be right: git has to tell. */
class Unusual extends Error {
  override name = 'Unusual'
}

/**
 * The objects of a small pack whose hash was checked, in its order. `readBase` reads an object that the repository has, of at most `maxBytes`.
 * `undefined` if the pack is malformed or large, or lacks what a delta builds on.
 */
export async function readPack(
  pack: Buffer,
  readBase: (oid: Oid, maxBytes: number) => Promise<Base | undefined>,
): Promise<readonly NewObject[] | undefined> {
  try {
    return await new SmallPack(pack, readBase).objects()
  } catch (error) {
    if (error instanceof Unusual) return undefined
    throw error
  }
}

class SmallPack {
  readonly #pack: Buffer
  readonly #readBase: (oid: Oid, maxBytes: number) => Promise<Base | undefined>
  readonly #end: number
  #at = packHeaderBytes
  #leftBytes = maxContentBytes
  readonly #byOffset = new Map<number, NewObject>()
  readonly #byOid = new Map<Oid, NewObject>()

  constructor(pack: Buffer, readBase: (oid: Oid, maxBytes: number) => Promise<Base | undefined>) {
    this.#pack = pack
    this.#readBase = readBase
    this.#end = pack.length - packTrailerBytes
  }

  async objects(): Promise<readonly NewObject[]> {
    let turn = turnBytes
    for (let left = this.#pack.readUInt32BE(8); left > 0; left--) {
      if (maxContentBytes - this.#leftBytes >= turn) {
        turn = maxContentBytes - this.#leftBytes + turnBytes
        await setImmediate()
      }
      const start = this.#at
      const object = await this.#next(start)
      if (this.#byOid.has(object.oid)) throw new Unusual()
      this.#byOffset.set(start, object)
      this.#byOid.set(object.oid, object)
    }
    if (this.#at !== this.#end) throw new Unusual()
    return [...this.#byOid.values()]
  }

  async #next(start: number): Promise<NewObject> {
    const first = this.#byte()
    const number = (first >> 4) & 7
    const size = first & 0x80 ? (first & 15) + 16 * this.#size() : first & 15
    const type = types.get(number)
    if (type) return newObject(type, this.#inflated(size))
    if (number === offsetDelta) {
      const base = this.#byOffset.get(start - this.#distance())
      if (base) return this.#applied(base, this.#delta(size))
    } else if (number === oidDelta) {
      const oid = this.#oid()
      const delta = this.#delta(size)
      // The base may be of any size.
      if (delta.baseBytes > maxContentBytes) throw new Unusual()
      const base = this.#byOid.get(oid) ?? (await this.#readBase(oid, maxContentBytes))
      if (base) return this.#applied(base, delta)
    }
    throw new Unusual()
  }

  #applied({ type, content }: Base, delta: Delta): NewObject {
    const target = delta.applyTo(content, this.#leftBytes)
    this.#leftBytes -= target.length
    return newObject(type, target)
  }

  #delta(size: number): Delta {
    return new Delta(this.#inflated(size))
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new Unusual()
    return this.#pack[this.#at++]!
  }

  #size(): number {
    return readSize(() => this.#byte())
  }

  /** Each byte after the first counts one more (gitformat-pack, "offset encoding"). */
  #distance(): number {
    let byte = this.#byte()
    let distance = byte & 127
    while (byte & 0x80) {
      byte = this.#byte()
      distance = (distance + 1) * 128 + (byte & 127)
      if (distance > this.#end) throw new Unusual()
    }
    return distance
  }

  #oid(): Oid {
    const oid = this.#pack.toString('hex', this.#at, this.#at + oidBytes) as Oid
    this.#at += oidBytes
    if (this.#at > this.#end) throw new Unusual()
    return oid
  }

  #inflated(size: number): Buffer {
    if (size > this.#leftBytes) throw new Unusual()
    this.#leftBytes -= size
    const { content, consumed } = inflateStart(this.#pack.subarray(this.#at, this.#end), size)
    this.#at += consumed
    return content
  }
}

/** Inflates what the bytes begin with, and tells how many of them that took. */
function inflateStart(bytes: Buffer, size: number): { content: Buffer; consumed: number } {
  const options = { info: true, maxOutputLength: size + 1, chunkSize: Math.max(64, size + 1) }
  let inflated: { buffer: Buffer; engine: { bytesWritten: number } }
  try {
    inflated = inflateSync(bytes, options) as unknown as typeof inflated
  } catch {
    throw new Unusual()
  }
  if (inflated.buffer.length !== size) throw new Unusual()
  return { content: inflated.buffer, consumed: inflated.engine.bytesWritten }
}

/** Seven bits in each byte, the lowest first. */
function readSize(next: () => number): number {
  let [size, scale] = [0, 1]
  for (;;) {
    const byte = next()
    size += (byte & 127) * scale
    if (!(byte & 0x80)) return size
    scale *= 128
    if (scale > maxContentBytes) throw new Unusual()
  }
}

/** Says how content is made of a base (gitformat-pack, "deltified representation"). */
class Delta {
  /** Size of the base, as the delta says. */
  readonly baseBytes: number
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    if (bytes.length < minDeltaBytes) throw new Unusual()
    this.#bytes = bytes
    this.baseBytes = this.#size()
  }

  applyTo(base: Buffer, maxBytes: number): Buffer {
    const targetBytes = this.#size()
    if (this.baseBytes !== base.length || targetBytes > maxBytes) throw new Unusual()
    const target = Buffer.alloc(targetBytes)
    let written = 0
    for (let instructions = 0; this.#at < this.#bytes.length; instructions++) {
      const instruction = this.#next()
      const isCopy = (instruction & 0x80) !== 0
      const start = isCopy ? this.#number(instruction & 15) : this.#at
      const length = isCopy ? this.#number((instruction >> 4) & 7) || 0x10000 : instruction
      const source = isCopy ? base : this.#bytes
      const isPossible = length > 0 && start + length <= source.length && written + length <= targetBytes
      if (!isPossible || instructions === maxInstructions) throw new Unusual()
      source.copy(target, written, start, start + length)
      written += length
      if (!isCopy) this.#at += length
    }
    if (written !== targetBytes) throw new Unusual()
    return target
  }

  #next(): number {
    if (this.#at >= this.#bytes.length) throw new Unusual()
    return this.#bytes[this.#at++]!
  }

  #size(): number {
    return readSize(() => this.#next())
  }

  /** A number of which only the bytes are there whose bits are set, the lowest first. */
  #number(bits: number): number {
    let number = 0
    for (let [left, scale] = [bits, 1]; left > 0; left >>= 1, scale *= 256) if (left & 1) number += this.#next() * scale
    return number
  }
}
