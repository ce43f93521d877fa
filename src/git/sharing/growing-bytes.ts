import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Block, type BlockPool, blockBytes } from './block-pool.ts'

/** In memory up to this size: most fetches are small. */
const memoryBytes = 256 * 1024

/**
 * Bytes that are appended and read at the same time: in memory at first, then in blocks of a file. The block that is not yet full is in memory. The
 * file has no name, so that nothing is left of it after a crash, and nothing else can read it.
 */
export class GrowingBytes {
  readonly #folder: string
  readonly #pool: BlockPool
  readonly #name = randomUUID()
  #memory: Buffer | undefined = Buffer.alloc(0)
  #file: FileHandle | undefined
  #size = 0
  /** Has the bytes from `#written` on. */
  #last: Block | undefined
  /** Bytes in the file: whole blocks until the end. */
  #written = 0

  constructor(folder: string, pool: BlockPool) {
    this.#folder = folder
    this.#pool = pool
  }

  get size(): number {
    return this.#size
  }

  /** Appends all bytes or, if it throws, none. One caller at a time. */
  async append(bytes: readonly Buffer[], length: number): Promise<void> {
    if (this.#memory && this.#size + length <= memoryBytes) this.#memory = Buffer.concat([this.#memory, ...bytes])
    else if (this.#memory) await this.#appendBlocks([this.#memory, ...bytes], 0)
    else await this.#appendBlocks(bytes, this.#size)
    this.#size += length
  }

  /** `position`: where they begin. */
  async #appendBlocks(appended: readonly Buffer[], position: number): Promise<void> {
    const full: Block[] = []
    let last = this.#last
    let at = position - this.#written
    for (const bytes of appended)
      for (let from = 0; from < bytes.length; ) {
        last ??= this.#pool.take()
        const copied = bytes.copy(last.memory, at, from)
        from += copied
        at += copied
        if (at < blockBytes) continue
        full.push(last)
        last = undefined
        at = 0
      }
    if (full.length > 0) {
      this.#file ??= await openNameless(join(this.#folder, this.#name))
      await writeAll(
        this.#file,
        full.map(({ memory }) => memory),
        this.#written,
      )
    }
    for (const block of full) {
      this.#pool.keep(this.#name, this.#written, block)
      this.#written += blockBytes
    }
    this.#last = last
    this.#memory = undefined
  }

  /** Frees memory once nothing more is appended. */
  async finish(): Promise<void> {
    const last = this.#last
    if (!last) return
    try {
      this.#file ??= await openNameless(join(this.#folder, this.#name))
      await writeAll(this.#file, [last.memory.subarray(0, this.#size - this.#written)], this.#written)
    } catch {
      // A full disk, for example: it stays in memory.
      return
    }
    this.#pool.keep(this.#name, this.#written, last)
    this.#last = undefined
    this.#written = this.#size
  }

  /** Some bytes from `position`, which is below `size`. Readers must not change them, and may give them back (`giveBack`). */
  read(position: number): Buffer | Promise<Buffer> {
    if (this.#memory) return this.#memory.subarray(position)
    if (position >= this.#written) return this.#last!.lend(position - this.#written, this.#size - this.#written)
    const offset = position % blockBytes
    const start = position - offset
    const length = Math.min(blockBytes, this.#written - start)
    return this.#pool.lend(this.#file!, this.#name, { start, length, offset })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pool.forget(this.#name)
    await this.#file?.close()
  }
}

async function openNameless(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

async function writeAll(file: FileHandle, buffers: readonly Buffer[], position: number): Promise<void> {
  const { bytesWritten } = await file.writev(buffers, position)
  const length = buffers.reduce((sum, each) => sum + each.length, 0)
  // The disk is full, or a limit of the process is reached.
  if (bytesWritten < length) throw new Error(`only ${bytesWritten} of ${length} bytes could be written`)
}
