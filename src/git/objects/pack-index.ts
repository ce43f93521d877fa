import { closeSync, openSync, readSync } from 'node:fs'
import { type Oid, oidBytes } from '../format/oid.ts'

/** The file is not an index as git writes it. */
export class UnknownIndex extends Error {}

/** `\377tOc`, and version 2 (gitformat-pack). */
const signature = 'ff744f6300000002'
/** For each first byte, the number of ids up to it. */
const fanoutAt = 8
const idsAt = fanoutAt + 256 * 4

/** Ids that are read together, 16 KB. */
const idsAtOnce = 800

/** The index of a pack on disk: the ids of its objects in order. Each question reads a few small parts. */
export class PackIndex implements Disposable {
  readonly #file: number
  readonly #fanout: Buffer

  /** Throws `UnknownIndex` for another format, and the error of the file system if there is no such file. */
  constructor(path: string) {
    this.#file = openSync(path, 'r')
    try {
      this.#fanout = this.#read(0, idsAt)
      if (!this.#fanout.toString('hex').startsWith(signature)) throw new UnknownIndex(path)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** The ids that begin with a text of at least two hex digits in lower case. */
  idsWith(prefix: string): Oid[] {
    const byte = Number.parseInt(prefix.slice(0, 2), 16)
    const end = this.#countTo(byte)
    let from = byte === 0 ? 0 : this.#countTo(byte - 1)
    let to = Math.max(from, end)
    // The first id that is not before the prefix has an index from `from` to `to`.
    const narrow = (middle: number, id: string) => {
      if (id < prefix) from = middle + 1
      else to = middle
    }
    while (to - from > idsAtOnce) {
      const middle = (from + to) >> 1
      narrow(middle, this.#id(middle))
    }
    const block = this.#read(idsAt + from * oidBytes, (to - from) * oidBytes)
    for (const first = from; from < to; ) {
      const middle = (from + to) >> 1
      narrow(middle, idIn(block, middle - first))
    }
    const found: Oid[] = []
    for (; from < end; from++) {
      const id = this.#id(from)
      if (!id.startsWith(prefix)) break
      found.push(id)
    }
    return found
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #countTo(byte: number): number {
    return this.#fanout.readUInt32BE(fanoutAt + 4 * byte)
  }

  #id(index: number): Oid {
    return idIn(this.#read(idsAt + index * oidBytes, oidBytes), 0)
  }

  #read(at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size)
    if (readSync(this.#file, bytes, 0, size, at) < size) throw new UnknownIndex('the file is too short')
    return bytes
  }
}

const idIn = (bytes: Buffer, index: number): Oid =>
  bytes.toString('hex', index * oidBytes, (index + 1) * oidBytes) as Oid
