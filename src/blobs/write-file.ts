import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Digest, StoredBlob } from './blob-store.ts'

/** Bytes of one write: the size that needs the least processor time. Smaller writes need more calls, larger ones more memory of the system. */
const batchBytes = 128 * 1024

/** Buffers that no file uses. Allocating each anew would leave many times their size to the collector of memory. */
const spare: Buffer[] = []
const maxSpare = 8

/** What was written. `broken` is the error that ended the source early. */
export type Written = StoredBlob & { readonly broken?: unknown }

/**
 * Writes a stream to a new file, which only its owner can read, and computes its digest while writing. The content is durable
 * afterwards; its name is not. If the source breaks, the file has what arrived before. Fails if writing fails, or `check` throws for the
 * number of bytes so far; an unfinished file may remain. The memory of a chunk is not used any more once the next one is requested.
 */
export async function writeFileOf(
  path: string,
  source: AsyncIterable<Buffer>,
  check: (bytes: number) => void,
): Promise<Written> {
  const file = await open(path, 'wx', 0o600)
  const batches = new Batches(file)
  let sizeBytes = 0
  let broken: unknown
  try {
    const chunks = source[Symbol.asyncIterator]()
    for (;;) {
      let next: IteratorResult<Buffer>
      try {
        next = await chunks.next()
      } catch (error) {
        broken = error
        break
      }
      if (next.done) break
      sizeBytes += next.value.length
      check(sizeBytes)
      await batches.add(next.value)
    }
    const digest = await batches.end()
    await file.sync()
    return { digest, sizeBytes, ...(broken !== undefined && { broken }) }
  } finally {
    // Closing would give the number of the file to another one that is opened during the write.
    await batches.settled()
    await file.close()
  }
}

/**
 * Collects chunks in two buffers: one is filled while the other is written. Copying costs less than writing each chunk, and their memory
 * is free at once.
 */
class Batches {
  readonly #file: FileHandle
  readonly #hash = createHash('sha256')
  #filling: Buffer | undefined
  #filled = 0
  #idle: Buffer | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(file: FileHandle) {
    this.#file = file
  }

  async add(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      this.#filling ??= spare.pop() ?? Buffer.allocUnsafeSlow(batchBytes)
      const count = rest.copy(this.#filling, this.#filled)
      this.#filled += count
      rest = rest.subarray(count)
      if (this.#filled === batchBytes) await this.#write()
    }
  }

  /** Resolves with the digest once all is written. */
  async end(): Promise<Digest> {
    if (this.#filled > 0) await this.#write()
    await this.#writing
    return this.#hash.digest('hex') as Digest
  }

  /** Resolves once nothing is being written, also after a failure. Nothing can be added any more. */
  async settled(): Promise<void> {
    await this.#writing.catch(() => {})
    for (const buffer of [this.#filling, this.#idle]) if (buffer && spare.length < maxSpare) spare.push(buffer)
  }

  /** Begins to write the buffer, after the other one is written. */
  async #write(): Promise<void> {
    const full = this.#filling!
    const bytes = full.subarray(0, this.#filled)
    this.#hash.update(bytes)
    await this.#writing
    this.#writing = this.#file.writeFile(bytes)
    // Awaited before the next write, or at the end.
    this.#writing.catch(() => {})
    this.#filling = this.#idle
    this.#idle = full
    this.#filled = 0
  }
}
