import { type Oid, oidBytes } from '../format/oid.ts'
import { type ChangedPaths, isMaybeIn } from './changed-paths.ts'

/** A corrupt commit-graph file. The caller asks git instead. */
export class BrokenGraph extends Error {}

const signature = 'CGPH'
const commitBytes = 36
const noParent = 0x70000000
const top = 0x80000000
const filterHeaderBytes = 12

/**
 * One file of git's commit-graph format (`git help gitformat-commit-graph`), version 1 with SHA-1. Positions count over all
 * layers: those of the layers below come first. The bytes are untrusted: every read is checked against the bounds and throws
 * `BrokenGraph` beyond them.
 */
export class GraphLayer {
  /** Number of commits in the layers below. */
  readonly base: number
  /** Number of commits in this layer. */
  readonly count: number
  /** Ids of the layers below, lowest first, as the file lists them. */
  readonly below: readonly string[]
  readonly hasCorrectedDates: boolean
  readonly sizeBytes: number
  readonly #fanout: Buffer
  readonly #oids: Buffer
  readonly #commits: Buffer
  /** For each commit: two parents, then level and seconds in two words. */
  readonly #words: Uint32Array
  readonly #edges: Uint32Array
  readonly #offsets: Uint32Array | undefined
  readonly #longOffsets: Buffer
  readonly #filters: Filters | undefined

  constructor(file: Buffer, base: number) {
    const chunks = chunksOf(file)
    this.base = base
    this.sizeBytes = file.length
    this.#fanout = required(chunks, 'OIDF', 256 * 4)
    this.count = this.#fanout.readUInt32BE(255 * 4)
    for (let byte = 1, last = this.#fanout.readUInt32BE(0); byte < 256; byte++) {
      const next = this.#fanout.readUInt32BE(byte * 4)
      if (next < last) throw new BrokenGraph('the fanout goes down')
      last = next
    }
    this.#oids = required(chunks, 'OIDL', this.count * oidBytes)
    this.#commits = required(chunks, 'CDAT', this.count * commitBytes)
    this.#words = new Uint32Array(this.count * 4)
    for (let at = 0; at < this.count; at++)
      for (let word = 0; word < 4; word++)
        this.#words[at * 4 + word] = this.#commits.readUInt32BE(at * commitBytes + oidBytes + word * 4)
    this.#edges = numbers(chunks.get('EDGE')) ?? new Uint32Array()
    this.#offsets = numbers(optional(chunks, 'GDA2', this.count * 4))
    this.#longOffsets = chunks.get('GDO2') ?? Buffer.alloc(0)
    this.hasCorrectedDates = this.#offsets !== undefined
    this.#filters = filtersOf(numbers(optional(chunks, 'BIDX', this.count * 4)), chunks.get('BDAT'))
    const names = required(chunks, 'BASE', file[7]! * oidBytes)
    this.below = Array.from({ length: file[7]! }, (_, at) => names.toString('hex', at * oidBytes, (at + 1) * oidBytes))
  }

  /** Index in this layer, or -1. */
  find(oid: Buffer): number {
    const first = oid[0]!
    let low = first === 0 ? 0 : this.#fanout.readUInt32BE((first - 1) * 4)
    let high = this.#fanout.readUInt32BE(first * 4)
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.#oids.compare(oid, 0, oidBytes, middle * oidBytes, (middle + 1) * oidBytes)
      if (order === 0) return middle
      if (order < 0) low = middle + 1
      else high = middle
    }
    return -1
  }

  oid = (at: number): Oid => this.#oids.toString('hex', at * oidBytes, (at + 1) * oidBytes) as Oid

  tree = (at: number): Oid => this.#commits.toString('hex', at * commitBytes, at * commitBytes + oidBytes) as Oid

  /** Committer time, in the 34 bits of the format. */
  seconds(at: number): number {
    return (this.#words[at * 4 + 2]! & 3) * 2 ** 32 + this.#words[at * 4 + 3]!
  }

  /** One more than the highest level of a parent; 0 if unknown. */
  level = (at: number): number => this.#words[at * 4 + 2]! >>> 2

  /** The commit's own time, or one second more than the highest corrected time of a parent. Requires `hasCorrectedDates`. */
  correctedSeconds(at: number): number {
    const offset = this.#offsets![at]!
    if (offset < top) return this.seconds(at) + offset
    const place = (offset - top) * 8
    if (place + 8 > this.#longOffsets.length) throw new BrokenGraph('a generation is out of range')
    return this.seconds(at) + Number(this.#longOffsets.readBigUInt64BE(place))
  }

  /** Position over all layers; -1 for a commit without parents. */
  firstParent(at: number): number {
    const first = this.#words[at * 4]!
    return first === noParent ? -1 : this.#within(first)
  }

  isMerge = (at: number): boolean => this.#words[at * 4 + 1] !== noParent

  /** Positions over all layers, first parent first. */
  parents(at: number): number[] {
    const first = this.#words[at * 4]!
    if (first === noParent) return []
    const second = this.#words[at * 4 + 1]!
    if (second === noParent) return [this.#within(first)]
    if (second < top) return [this.#within(first), this.#within(second)]
    const parents = [this.#within(first)]
    for (let edge = second - top; ; edge++) {
      const parent = this.#edges[edge]
      if (parent === undefined) throw new BrokenGraph('a list of parents has no end')
      parents.push(this.#within(parent >= top ? parent - top : parent))
      if (parent >= top) return parents
    }
  }

  /** False only if the path is certainly the same as in the first parent. */
  maybeChanged(at: number, paths: ChangedPaths): boolean {
    const filters = this.#filters
    if (!filters) return true
    const start = at === 0 ? 0 : filters.ends[at - 1]!
    const end = filters.ends[at]!
    if (start > end || end > filters.bits.length) throw new BrokenGraph('a filter is out of range')
    // An empty filter means that git did not compute one, because the commit changed too many paths.
    return start === end || isMaybeIn(filters.bits, start, end, filters.hashes, paths)
  }

  #within(position: number): number {
    if (position >= this.base + this.count) throw new BrokenGraph('a parent is out of range')
    return position
  }
}

type Filters = { readonly ends: Uint32Array; readonly bits: Buffer; readonly hashes: number }

function filtersOf(ends: Uint32Array | undefined, data: Buffer | undefined): Filters | undefined {
  if (!ends || !data || data.length < filterHeaderBytes) return undefined
  const version = data.readUInt32BE(0)
  const hashes = data.readUInt32BE(4)
  // Both versions agree on ASCII paths, and only those are looked up.
  if ((version !== 1 && version !== 2) || hashes === 0 || hashes > 64) return undefined
  return { ends, bits: data.subarray(filterHeaderBytes), hashes }
}

/** The chunks of the file by their four-letter id. */
function chunksOf(file: Buffer): Map<string, Buffer> {
  const [version, hash, count] = [file[4], file[5], file[6]]
  if (file.length < 8 + 12 + oidBytes || file.toString('latin1', 0, 4) !== signature || version !== 1 || hash !== 1)
    throw new BrokenGraph('no commit-graph of a known kind')
  const end = file.length - oidBytes
  const tableEnd = 8 + (count! + 1) * 12
  if (tableEnd > end) throw new BrokenGraph('the table is cut off')
  const chunks = new Map<string, Buffer>()
  for (let entry = 8; entry < tableEnd - 12; entry += 12) {
    const from = Number(file.readBigUInt64BE(entry + 4))
    const to = Number(file.readBigUInt64BE(entry + 16))
    if (from < tableEnd || to < from || to > end) throw new BrokenGraph('a chunk is out of range')
    chunks.set(file.toString('latin1', entry, entry + 4), file.subarray(from, to))
  }
  return chunks
}

const required = (chunks: ReadonlyMap<string, Buffer>, name: string, bytes: number): Buffer => {
  const chunk = chunks.get(name)
  if (bytes === 0 && !chunk) return Buffer.alloc(0)
  if (chunk?.length !== bytes) throw new BrokenGraph(`the chunk ${name} has a wrong size`)
  return chunk
}

/** Reads big-endian words. */
const numbers = (chunk: Buffer | undefined): Uint32Array | undefined =>
  chunk && Uint32Array.from({ length: chunk.length >>> 2 }, (_, at) => chunk.readUInt32BE(at * 4))

const optional = (chunks: ReadonlyMap<string, Buffer>, name: string, bytes: number): Buffer | undefined =>
  chunks.has(name) ? required(chunks, name, bytes) : undefined
