/** Buffered bytes that have not been taken. Bytes are copied once, when they are taken. */
export class Inbox {
  #chunks: Buffer[] = []
  /** Bytes of the first chunk that have been taken. */
  #taken = 0
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
    this.#taken = 0
    this.#size = 0
  }

  /** The offset of `byte`, searched from `from`; -1 if it has not arrived. */
  indexOf(byte: number, from = 0): number {
    let start = -this.#taken
    for (const chunk of this.#chunks) {
      const end = start + chunk.length
      if (end > from) {
        const found = chunk.indexOf(byte, Math.max(0, -start, from - start))
        if (found >= 0) return start + found
      }
      start = end
    }
    return -1
  }

  /** Removes and returns `length` bytes, which must have arrived, as a copy that does not keep a large chunk alive. */
  take(length: number): Buffer {
    const taken = Buffer.allocUnsafe(length)
    this.#copyTo(taken)
    this.skip(length)
    return taken
  }

  /** The first `length` bytes, which must have arrived, without removing them. Only for short lengths. */
  peek(length: number): Buffer {
    const first = this.#chunks[0]
    const end = this.#taken + length
    if (first && first.length >= end) return first.subarray(this.#taken, end)
    const bytes = Buffer.allocUnsafe(length)
    this.#copyTo(bytes)
    return bytes
  }

  /** Like `peek`, as Latin-1 text. */
  peekText(length: number): string {
    const first = this.#chunks[0]
    const end = this.#taken + length
    return first && first.length >= end
      ? first.toString('latin1', this.#taken, end)
      : this.peek(length).toString('latin1')
  }

  /** Discards at most `length` bytes; returns how many. */
  skip(length: number): number {
    let left = Math.min(length, this.#size)
    const skipped = left
    this.#size -= skipped
    while (left > 0) {
      const part = Math.min(this.#chunks[0]!.length - this.#taken, left)
      this.#taken += part
      left -= part
      if (this.#taken === this.#chunks[0]!.length) {
        this.#chunks.shift()
        this.#taken = 0
      }
    }
    return skipped
  }

  #copyTo(target: Buffer): void {
    let from = this.#taken
    let filled = 0
    for (const chunk of this.#chunks) {
      if (filled === target.length) return
      filled += chunk.copy(target, filled, from)
      from = 0
    }
  }
}
