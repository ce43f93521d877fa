import type { FileHandle } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'

export const blockBytes = 512 * 1024
/** Blocks of files that are cached, of all files together: 8 MiB. */
const cachedBlocks = 16
/** Blocks whose memory waits to be used again: 8 MiB. */
const spareBlocks = 16

/** By their memory. */
const blocks = new WeakMap<ArrayBufferLike, Block>()

/**
 * Memory for parts of files that several readers read at about the same time. It is used again after all of them have given it back: with new
 * memory for each part, V8 collects garbage after every 64 MiB, which costs more than to send them.
 */
export class BlockPool {
  /** By the name of the file and the position in it. */
  readonly #cached = new LRUCache<string, Promise<Block>>({
    max: cachedBlocks,
    dispose: (reading) =>
      reading.then(
        (block) => block.release(),
        () => {},
      ),
  })
  readonly #spare: Buffer[] = []

  /** A block to fill, which its caller holds. */
  take(): Block {
    return new Block(this.#spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes), (memory) => {
      if (this.#cached.size > 0 && this.#spare.length < spareBlocks) this.#spare.push(memory)
    })
  }

  /** Caches a full block, in place of its holder. */
  keep(file: string, start: number, block: Block): void {
    this.#cached.set(`${file} ${start}`, Promise.resolve(block))
  }

  /** Reads `length` bytes, a block or the end of the file `name`, unless they are cached, and lends those from `offset`. */
  async lend(
    file: FileHandle,
    name: string,
    { start, length, offset }: { start: number; length: number; offset: number },
  ): Promise<Buffer> {
    const key = `${name} ${start}`
    let reading = this.#cached.get(key)
    if (!reading) {
      reading = this.#read(file, start, length)
      this.#cached.set(key, reading)
      reading.catch(() => this.#cached.delete(key))
    }
    return (await reading).lend(offset, length)
  }

  async #read(file: FileHandle, start: number, length: number): Promise<Block> {
    const block = this.take()
    const { bytesRead } = await file.read(block.memory, 0, length, start)
    if (bytesRead < length) throw new Error('a shared response is shorter than what was written')
    return block
  }

  /** Frees what is cached of a file. */
  forget(file: string): void {
    for (const key of [...this.#cached.keys()]) if (key.startsWith(`${file} `)) this.#cached.delete(key)
    if (this.#cached.size === 0) this.#spare.length = 0
  }
}

export class Block {
  readonly memory: Buffer
  readonly #free: (memory: Buffer) => void
  /** The cache or who fills it, and the readers. */
  #holders = 1

  constructor(memory: Buffer, free: (memory: Buffer) => void) {
    this.memory = memory
    this.#free = free
    blocks.set(memory.buffer, this)
  }

  /** Bytes that readers must not change, and may give back (`giveBack`). */
  lend(start: number, end: number): Buffer {
    this.#holders++
    return this.memory.subarray(start, end)
  }

  release(): void {
    this.#holders--
    if (this.#holders === 0) this.#free(this.memory)
  }
}

/** Call it at most once for each chunk that was lent, which must not be used any longer. Other chunks are left alone. */
export const giveBack = (chunk: Buffer): void => blocks.get(chunk.buffer)?.release()
