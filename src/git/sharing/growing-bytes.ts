import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

/** In memory up to this size: most fetches are small. */
const memoryBytes = 256 * 1024
const blockBytes = 256 * 1024
/** Blocks that concurrent readers share: 4 MiB. */
const cachedBlocks = 16
/** The end of the bytes stays in memory: a reader as fast as the writer reads no file. */
const recentBytes = 2 * 1024 * 1024

/**
 * Bytes that are appended and read at the same time: in memory at first, then in a file. The file has no name, so that nothing
 * is left of it after a crash, and nothing else can read it.
 */
export class GrowingBytes {
  readonly #folder: string
  #memory: Buffer | undefined = Buffer.alloc(0)
  #file: FileHandle | undefined
  #size = 0
  #recent: { readonly start: number; readonly bytes: Buffer }[] = []
  readonly #blocks = new LRUCache<string, Promise<Buffer>>({ max: cachedBlocks })

  constructor(folder: string) {
    this.#folder = folder
  }

  get size(): number {
    return this.#size
  }

  /** Appends all bytes or, if it throws, none. One caller at a time. */
  async append(bytes: readonly Buffer[], length: number): Promise<void> {
    if (this.#memory && this.#size + length <= memoryBytes) this.#memory = Buffer.concat([this.#memory, ...bytes])
    else {
      this.#file ??= await openNameless(this.#folder)
      await writeAll(this.#file, this.#memory ? [this.#memory, ...bytes] : bytes, this.#memory ? 0 : this.#size)
      this.#memory = undefined
      this.#remember(bytes)
    }
    this.#size += length
  }

  #remember(appended: readonly Buffer[]): void {
    let start = this.#size
    for (const bytes of appended) {
      this.#recent.push({ start, bytes })
      start += bytes.length
    }
    const isOld = ({ start: at }: { start: number }) => at < start - recentBytes
    if (this.#recent.length > 0 && isOld(this.#recent[0]!)) this.#recent = this.#recent.filter((each) => !isOld(each))
  }

  /** Frees the memory for the end, once nothing more is appended. */
  finish(): void {
    this.#recent = []
  }

  /**
   * Some bytes from `position`, which is below `size`; readers must not change them. A lone reader gets them as they were
   * appended; several get blocks that they share, which are fewer and larger.
   */
  read(position: number, isAlone: boolean): Buffer | Promise<Buffer> {
    if (this.#memory) return this.#memory.subarray(position)
    if (isAlone && this.#recent.length > 0 && position >= this.#recent[0]!.start) {
      const { start, bytes } = this.#recent.findLast((each) => each.start <= position)!
      return bytes.subarray(position - start)
    }
    const start = position - (position % blockBytes)
    const end = Math.min(start + blockBytes, this.#size)
    const name = `${start} ${end}`
    const known = this.#blocks.get(name)
    const block = known ?? readExactly(this.#file!, start, end - start)
    if (!known) this.#blocks.set(name, block)
    return position === start ? block : block.then((bytes) => bytes.subarray(position - start))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#blocks.clear()
    await this.#file?.close()
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, randomUUID())
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

async function readExactly(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await file.read(bytes, 0, length, start)
  if (bytesRead < length) throw new Error('a shared response is shorter than what was written')
  return bytes
}
