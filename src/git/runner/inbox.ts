/** Buffered bytes that have not been taken. Bytes are copied once, when they are taken. */
export class Inbox {
  #chunks: Buffer[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  clear(): void {
    this.#chunks = []
    this.#size = 0
  }

  /** The offset of `byte`, searched from `from`; -1 if it has not arrived. */
  indexOf(byte: number, from = 0): number {
    let start = 0
    for (const chunk of this.#chunks) {
      const end = start + chunk.length
      if (end > from) {
        const found = chunk.indexOf(byte, Math.max(0, from - start))
        if (found >= 0) return start + found
      }
      start = end
    }
    return -1
  }

  /** Removes and returns `length` bytes, which must have arrived, as a copy that does not keep a large chunk alive. */
  take(length: number): Buffer {
    const taken = Buffer.allocUnsafe(length)
    let filled = 0
    while (filled < length) {
      const chunk = this.#chunks[0]!
      const part = Math.min(chunk.length, length - filled)
      chunk.copy(taken, filled, 0, part)
      filled += part
      this.#drop(part)
    }
    return taken
  }

  /** The first `length` bytes, which must have arrived, without removing them. Only for short lengths. */
  peek(length: number): Buffer {
    const first = this.#chunks[0]
    return first && first.length >= length ? first.subarray(0, length) : Buffer.concat(this.#chunks).subarray(0, length)
  }

  /** Discards at most `length` bytes; returns how many. */
  skip(length: number): number {
    let left = Math.min(length, this.#size)
    const skipped = left
    while (left > 0) {
      const part = Math.min(this.#chunks[0]!.length, left)
      this.#drop(part)
      left -= part
    }
    return skipped
  }

  #drop(length: number) {
    const chunk = this.#chunks[0]!
    if (length === chunk.length) this.#chunks.shift()
    else this.#chunks[0] = chunk.subarray(length)
    this.#size -= length
  }
}
