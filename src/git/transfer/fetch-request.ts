import { Failure } from '../../kernel/failure.ts'
import { parseHeader } from '../format/packets.ts'

/** Number of lines of each kind. */
type Counts = Readonly<Record<Kind, number>>
type Kind = 'want' | 'have' | 'shallow' | 'deepen' | 'filter' | 'other'

/**
 * Limits of one request, far above what clients send: a fetch of 100,000 refs wants each once, a checkout of a partial clone
 * wants each missing file, and a client without common commits names its whole history.
 */
export const fetchLimits: Counts & {
  readonly bytes: number
  readonly filterBytes: number
  readonly otherBytes: number
} = {
  want: 500_000,
  have: 2_000_000,
  shallow: 500_000,
  deepen: 1_000,
  // A filter has a few words; each part of a combined filter is evaluated for every object.
  filter: 1,
  filterBytes: 500,
  // Ref prefixes, capabilities and the like.
  other: 100_000,
  // Git holds them in memory.
  otherBytes: 16 * 1024 * 1024,
  // Uncompressed. Each line that names an object has 50 bytes.
  bytes: 128 * 1024 * 1024,
}

const kinds = ['want', 'have', 'shallow', 'deepen', 'filter'] as const

/** Bytes at the start of a line that determine its kind. */
const startBytes = 8

/**
 * Counts what a client sends to `upload-pack`, in lines of the protocol (gitprotocol-common), as the bytes arrive, with
 * constant memory. Git itself rejects other malformed requests.
 */
export class FetchRequest {
  readonly #limits: typeof fetchLimits
  /** Protocol 2: a flush ends a request, and a connection may carry any number of them. */
  readonly #resets: boolean
  readonly #counts: Record<Kind, number> = { want: 0, have: 0, shallow: 0, deepen: 0, filter: 0, other: 0 }
  #bytes = 0
  #otherBytes = 0
  /** The received digits of a line's length, which has four. */
  #digits = ''
  /** Bytes of the line, and those that have not arrived. */
  #length = 0
  #left = 0
  /** The first bytes of the line, which determine its kind. */
  #start = ''
  #isNonsense = false

  constructor({ version2, limits = fetchLimits }: { version2: boolean; limits?: typeof fetchLimits }) {
    this.#resets = version2
    this.#limits = limits
  }

  /** Throws a `too_large` failure that names the exceeded limit, and `invalid` if git would take the request for an error of its own. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > this.#limits.bytes) throw tooMuch(`${this.#limits.bytes} bytes`)
    for (let at = 0; at < chunk.length && !this.#isNonsense; )
      at = this.#left > 0 ? this.#readLine(chunk, at) : this.#readLength(chunk, at)
  }

  #readLength(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + 4 - this.#digits.length)
    this.#digits += chunk.toString('latin1', at, end)
    if (this.#digits.length < 4) return end
    const length = parseHeader(this.#digits)
    this.#digits = ''
    if (length === 0) this.#flush()
    // It ends a response. As part of a request git takes it for an error of its own, and ends by a signal.
    if (length === 2 && this.#resets) throw new Failure('invalid', 'The fetch contains the end of a response')
    this.#isNonsense = length === undefined
    this.#length = Math.max(0, (length ?? 0) - 4)
    this.#left = this.#length
    this.#start = ''
    return end
  }

  #readLine(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    const startLength = Math.min(startBytes, this.#length)
    const missing = startLength - this.#start.length
    if (missing > 0) {
      this.#start += chunk.toString('latin1', at, Math.min(end, at + missing))
      if (this.#start.length === startLength) this.#count()
    }
    this.#left -= end - at
    return end
  }

  #count(): void {
    const kind = kinds.find((each) => this.#start.startsWith(each)) ?? 'other'
    if (++this.#counts[kind] > this.#limits[kind]) throw tooMuch(`${this.#limits[kind]} lines of the kind '${kind}'`)
    if (kind === 'filter' && this.#length > this.#limits.filterBytes)
      throw tooMuch(`${this.#limits.filterBytes} bytes of filter`)
    if (kind !== 'other') return
    this.#otherBytes += this.#length
    if (this.#otherBytes > this.#limits.otherBytes) throw tooMuch(`${this.#limits.otherBytes} bytes of other lines`)
  }

  #flush(): void {
    if (!this.#resets) return
    for (const kind of Object.keys(this.#counts) as Kind[]) this.#counts[kind] = 0
    this.#bytes = 0
    this.#otherBytes = 0
  }
}

const tooMuch = (limit: string): Failure => new Failure('too_large', `The fetch asks for too much: at most ${limit}`)
