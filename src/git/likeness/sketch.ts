/**
 * What a file consists of, without the text: bytes by bucket, pairs of a bucket and a number of bytes. Git finds renamed and
 * copied files by the bytes in lines that two files have in common (diffcore-delta.c); with its hash of a line the buckets give
 * an upper limit of that number, in a tenth of the size of the file.
 */
export type Sketch = Uint16Array

/** Maximum size in bytes of a file that gets a sketch. */
export const maxSketchedBytes = 256 * 1024

const buckets = 65_536
/** Git divides longer lines, and hashes into this many values. */
const maxSpanBytes = 64
const hashValues = 107_927

/** Bytes by bucket; all zero between two uses. */
const counts = new Uint32Array(buckets)

/** The sketch of a file; `undefined` if the file is too large, or too uniform for numbers of 16 bits. */
export function sketchOf(content: Buffer): Sketch | undefined {
  if (content.length > maxSketchedBytes) return undefined
  const touched: number[] = []
  addSpans(content, false, touched)
  // Git omits these carriage returns from files that it takes for text. Which ones is up to attributes, so both ways count.
  if (content.includes('\r\n')) addSpans(content, true, touched)
  const sketch = new Uint16Array(2 * touched.length)
  let fits = true
  for (const [index, bucket] of touched.entries()) {
    sketch[2 * index] = bucket
    sketch[2 * index + 1] = counts[bucket]!
    fits &&= counts[bucket]! < buckets
    counts[bucket] = 0
  }
  return fits ? sketch : undefined
}

function addSpans(content: Buffer, skipsCarriageReturns: boolean, touched: number[]): void {
  let [one, two, length] = [0, 0, 0]
  for (let at = 0; at < content.length; at++) {
    const byte = content[at]!
    if (skipsCarriageReturns && byte === 0x0d && content[at + 1] === 0x0a) continue
    const before = one
    one = (((one << 7) ^ (two >>> 25)) + byte) | 0
    two = (two << 7) ^ (before >>> 25)
    // Git before 2.44 ignores a last line without a newline: counting it only raises the limit.
    if (++length < maxSpanBytes && byte !== 0x0a && at + 1 < content.length) continue
    const bucket = (((one + Math.imul(two, 0x61)) >>> 0) % hashValues) & (buckets - 1)
    if (counts[bucket] === 0) touched.push(bucket)
    counts[bucket]! += length
    one = two = length = 0
  }
}

/** Length of an outline: one bit for all buckets with the same remainder. */
export const outlineBytes = 64
const outlineBits = 8 * outlineBytes

/** Which buckets a file has, in a few bytes. All bits are set for a file without a sketch. */
export function outlineOf(sketch: Sketch | undefined): Buffer {
  if (!sketch || sketch.length === 0) return Buffer.alloc(outlineBytes, 0xff)
  const outline = Buffer.alloc(outlineBytes)
  for (let at = 0; at < sketch.length; at += 2) {
    const bit = sketch[at]! % outlineBits
    outline[bit >> 3]! |= 1 << (bit & 7)
  }
  return outline
}

/** Whether git compares the contents of files with these sizes at all: one may be at most twice as large as the other. */
const areComparable = (bytes: number, otherBytes: number): boolean =>
  Math.max(bytes, otherBytes) <= 2 * Math.min(bytes, otherBytes)

/** Compares a file with others. */
export class Comparison {
  readonly #sizeBytes: number
  readonly #counts = new Uint32Array(buckets)
  /** Bytes in the buckets that a byte of an outline names, for each of its bytes and their values. */
  readonly #outlined = new Uint32Array(256 * outlineBytes)
  /** Bytes in the buckets of all bytes of an outline from one on. */
  readonly #outlinedFrom = new Uint32Array(outlineBytes + 1)

  constructor(sketch: Sketch, sizeBytes: number) {
    this.#sizeBytes = sizeBytes
    const byBit = new Uint32Array(outlineBits)
    for (let at = 0; at < sketch.length; at += 2) {
      this.#counts[sketch[at]!] = sketch[at + 1]!
      byBit[sketch[at]! % outlineBits]! += sketch[at + 1]!
    }
    for (let at = 0; at < this.#outlined.length; at++) {
      // Without the lowest bit, the sum is already known.
      const value = at & 0xff
      if (value === 0) continue
      const lowest = 31 - Math.clz32(value & -value)
      this.#outlined[at] = this.#outlined[at & ~(1 << lowest)]! + byBit[8 * (at >> 8) + lowest]!
    }
    for (let byte = outlineBytes - 1; byte >= 0; byte--)
      this.#outlinedFrom[byte] = this.#outlinedFrom[byte + 1]! + this.#outlined[256 * byte + 0xff]!
  }

  /** As `maybeSimilar`, from the outline at `at` of `outlines`: false less often, and a tenth of the work. */
  isOutlineSimilar(sizeBytes: number, outlines: Buffer, at: number): boolean {
    if (!areComparable(sizeBytes, this.#sizeBytes)) return false
    const wanted = Math.max(sizeBytes, this.#sizeBytes) / 2
    let common = 0
    for (let byte = 0; common < wanted; byte++) {
      if (common + this.#outlinedFrom[byte]! < wanted) return false
      common += this.#outlined[256 * byte + outlines[at + byte]!]!
    }
    return true
  }

  /**
   * False only if git certainly finds less than half of the larger file in the other one, of which this is the sketch. A file without a
   * sketch is always similar if its size allows it.
   */
  maybeSimilar(sizeBytes: number, sketch: Sketch): boolean {
    if (!areComparable(sizeBytes, this.#sizeBytes)) return false
    if (sketch.length === 0) return true
    const wanted = Math.max(sizeBytes, this.#sizeBytes) / 2
    let common = 0
    for (let at = 0; at < sketch.length; at += 2) {
      common += Math.min(this.#counts[sketch[at]!]!, sketch[at + 1]!)
      if (common >= wanted) return true
    }
    return false
  }
}
