const mebibyte = 1024 * 1024

/** Each part but the last has at least this size in the protocol. */
export const smallestPart = 5 * mebibyte

/** Up to this size, bytes stay in the chunks in which they came. */
const smallBytes = mebibyte / 2

/** Buffers of `smallestPart` that no upload uses. Allocating each anew would leave many times their size to the collector. */
const free: Buffer[] = []
const maxFree = 8

/** Makes a buffer of a sent part usable for another. Nothing may read it any more. */
export function releasePart(part: Buffer): void {
  if (part.buffer.byteLength === smallestPart && free.length < maxFree) free.push(Buffer.from(part.buffer))
}

/** Collects the bytes of one part. */
export class PartFilling {
  readonly #capacity: number
  #chunks: Buffer[] = []
  #filled = 0
  #part: Buffer | undefined

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Adds the bytes that have room, and returns the others. */
  add(chunk: Buffer): Buffer {
    const taken = chunk.subarray(0, this.#capacity - this.#filled)
    if (!this.#part && this.#filled + taken.length > smallBytes) this.#usePart()
    if (this.#part) taken.copy(this.#part, this.#filled)
    else this.#chunks.push(taken)
    this.#filled += taken.length
    return chunk.subarray(taken.length)
  }

  /** The bytes, in a buffer that only the caller uses. */
  take(): Buffer {
    return this.#part ? this.#part.subarray(0, this.#filled) : Buffer.concat(this.#chunks)
  }

  #usePart(): void {
    const pooled = this.#capacity === smallestPart ? free.pop() : undefined
    this.#part = pooled ?? Buffer.allocUnsafeSlow(this.#capacity)
    let at = 0
    for (const chunk of this.#chunks) at += chunk.copy(this.#part, at)
    this.#chunks = []
  }
}
