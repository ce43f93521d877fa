import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Pace } from './pace.ts'
import type { BackupStore } from './store.ts'

/** Bytes of a stored content: name, first byte, length. */
export type Piece = readonly [name: string, from: number, length: number]

/** A piece whose content is not complete yet. */
type PendingPiece = { readonly bundle: { name?: string }; readonly from: number; readonly length: number }

/** Where a file is in the store, for an entry of the inventory. */
export type Location = readonly (Piece | PendingPiece)[]

const pieceBytes = 4 * 1024 * 1024
/** Smaller files share a piece. */
const smallBytes = 256 * 1024
/** Rows are cut after one whose checksum has this many zero bits, so that a change in a table changes one piece of it. */
const cutMask = (1 << 13) - 1
const minCutBytes = 512 * 1024
/** The processor time that the database takes for a byte of a row, compared with that for reading a byte of a file. */
const rowsCost = 3
/** Pieces that are compressed and stored at the same time. */
const atOnce = 3

export const piecesOf = (location: Location): Piece[] =>
  location.map((piece) => ('bundle' in piece ? [piece.bundle.name!, piece.from, piece.length] : piece))

export const bytesIn = (location: Location): number => location.reduce((sum, piece) => sum + lengthOf(piece), 0)

const lengthOf = (piece: Piece | PendingPiece): number => ('bundle' in piece ? piece.length : piece[2])

/** Stores contents once each, and reports how much. */
export class Writer {
  readonly #store: BackupStore
  readonly #pace: Pace
  /** Names that the store has. */
  readonly #known: Set<string>
  readonly #running = new Set<Promise<void>>()
  #failure: unknown
  #bundle: { name?: string } = {}
  #bundled: Buffer[] = []
  #bundledBytes = 0
  /** What was read, and what was new. */
  readonly counts = { readBytes: 0, newPieces: 0, newBytes: 0, storedBytes: 0 }

  constructor(store: BackupStore, pace: Pace, known: Set<string>) {
    this.#store = store
    this.#pace = pace
    this.#known = known
  }

  has(location: readonly Piece[]): boolean {
    return location.every(([name]) => this.#known.has(name))
  }

  /** Stores a stream. Also returns the size, and the SHA-256 in hex of all bytes. */
  async file(source: AsyncIterable<Buffer>): Promise<{ location: Location; size: number; sha256: string }> {
    const digest = createHash('sha256')
    const location: (Piece | PendingPiece)[] = []
    let [parts, bytes, size]: [Buffer[], number, number] = [[], 0, 0]
    for await (const chunk of source) {
      digest.update(chunk)
      size += chunk.length
      await this.#pace.take(chunk.length)
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + pieceBytes - bytes)
        parts.push(part)
        bytes += part.length
        at += part.length
        if (bytes < pieceBytes) continue
        location.push(await this.#piece(Buffer.concat(parts)))
        ;[parts, bytes] = [[], 0]
      }
    }
    this.counts.readBytes += size
    if (bytes > 0) {
      const rest = Buffer.concat(parts)
      location.push(size <= smallBytes ? await this.#small(rest) : await this.#piece(rest))
    }
    return { location, size, sha256: digest.digest('hex') }
  }

  async bytes(content: Buffer): Promise<Location> {
    return (
      await this.file(
        (async function* () {
          yield content
        })(),
      )
    ).location
  }

  /** Takes the rows of a table, and cuts them into pieces by their content. */
  rows(): RowsWriter {
    return new RowsWriter(async (content) => {
      this.counts.readBytes += content.length
      await this.#pace.take(content.length * rowsCost)
      return content.length <= smallBytes ? this.#small(content) : this.#piece(content)
    })
  }

  async #small(content: Buffer): Promise<PendingPiece> {
    const piece = { bundle: this.#bundle, from: this.#bundledBytes, length: content.length }
    this.#bundled.push(content)
    this.#bundledBytes += content.length
    if (this.#bundledBytes >= pieceBytes) await this.completeBundle()
    return piece
  }

  /** From then on all pieces returned so far have names. */
  async completeBundle(): Promise<void> {
    if (this.#bundledBytes === 0) return
    const [bundle, content] = [this.#bundle, Buffer.concat(this.#bundled)]
    this.#bundle = {}
    this.#bundled = []
    this.#bundledBytes = 0
    bundle.name = (await this.#piece(content))[0]
  }

  async #piece(content: Buffer): Promise<Piece> {
    if (this.#failure !== undefined) throw this.#failure
    const name = this.#store.nameOf(content)
    if (!this.#known.has(name)) {
      this.#known.add(name)
      while (this.#running.size >= atOnce) await Promise.race(this.#running)
      const work = this.#put(name, content)
        .catch((error) => {
          this.#failure ??= error
        })
        .finally(() => this.#running.delete(work))
      this.#running.add(work)
    }
    return [name, 0, content.length]
  }

  async #put(name: string, content: Buffer): Promise<void> {
    const stored = await this.#store.put(name, content)
    this.counts.newPieces++
    this.counts.newBytes += content.length
    this.counts.storedBytes += stored
  }

  /** Waits until everything is stored. */
  async flush(): Promise<void> {
    await this.completeBundle()
    await Promise.all(this.#running)
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Cuts rows into pieces where a row has a certain checksum. */
export class RowsWriter {
  readonly #store: (content: Buffer) => Promise<Piece | PendingPiece>
  readonly #location: (Piece | PendingPiece)[] = []
  #content: Buffer = Buffer.alloc(0)
  #bytes = 0
  #last: Promise<void> = Promise.resolve()

  constructor(store: (content: Buffer) => Promise<Piece | PendingPiece>) {
    this.#store = store
  }

  /** A promise if the caller should wait before it adds more. The memory of the row may be used again at once. */
  add(row: Buffer): Promise<void> | undefined {
    let cut: Promise<void> | undefined
    for (let at = 0; at < row.length; ) {
      if (this.#bytes === this.#content.length) this.#grow()
      const copied = row.copy(this.#content, this.#bytes, at)
      at += copied
      this.#bytes += copied
      if (this.#bytes === pieceBytes) cut = this.#cut()
    }
    return this.#bytes >= minCutBytes && (crc32(row) & cutMask) === 0 ? this.#cut() : cut
  }

  /** Most tables are small. */
  #grow(): void {
    const larger = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(4096, this.#content.length * 4)))
    this.#content.copy(larger, 0, 0, this.#bytes)
    this.#content = larger
  }

  #cut(): Promise<void> {
    const content = this.#content.subarray(0, this.#bytes)
    this.#content = Buffer.alloc(0)
    this.#bytes = 0
    this.#last = this.#last.then(async () => {
      this.#location.push(await this.#store(content))
    })
    return this.#last
  }

  async end(): Promise<Location> {
    if (this.#bytes > 0) await this.#cut()
    await this.#last
    return this.#location
  }
}
