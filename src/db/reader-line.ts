import type pg from 'pg'
import type { Statement } from './db.ts'
import type { PipelinedConnection } from './pipelined-connection.ts'

/** A statement that takes longer, in milliseconds, holds up those sent after it on the same connection. */
const longMs = 100
/** How long a caller counts as one whose statements take long after one did, in milliseconds. */
const slowForMs = 2_000

/** The share keys of callers whose statements took long a moment ago. */
export class SlowCallers {
  /** Share key → `performance.now()` of the end of the last statement that took long. */
  readonly #seen = new Map<string, number>()

  add(caller: string): void {
    if (caller !== '') this.#seen.set(caller, performance.now())
  }

  has(caller: string): boolean {
    const at = this.#seen.get(caller)
    return at !== undefined && performance.now() - at < slowForMs
  }

  forgetEarlier(): void {
    for (const caller of this.#seen.keys()) if (!this.has(caller)) this.#seen.delete(caller)
  }
}

/** A connection of a reader, and whose statements wait for their results on it. */
export class ReaderLine {
  readonly connection: PipelinedConnection
  readonly slot: number
  /** Removes the connection from the reader. */
  readonly drop: () => void
  readonly #slow: SlowCallers
  /** Of each statement without a result, in the order in which they were sent. */
  readonly #pending = new Set<{ readonly caller: string }>()
  /** `performance.now()` since when the first of these is the first. */
  #since = 0
  #collects = false

  constructor(connection: PipelinedConnection, slot: number, slow: SlowCallers, drop: () => void) {
    this.connection = connection
    this.slot = slot
    this.drop = drop
    this.#slow = slow
  }

  get waiting(): number {
    return this.connection.waiting
  }

  /** Statements of this turn are not sent yet. */
  get collects(): boolean {
    return this.#collects
  }

  /** Its first statement takes long, or one of a caller whose statements do is among them. */
  get isHeldUp(): boolean {
    if (this.#isLong) return true
    for (const { caller } of this.#pending) if (this.#slow.has(caller)) return true
    return false
  }

  get #isLong(): boolean {
    return this.#pending.size > 0 && performance.now() - this.#since > longMs
  }

  serves(caller: string): boolean {
    for (const each of this.#pending) if (each.caller === caller) return true
    return false
  }

  /** The first statement of the caller takes long now. */
  isHeldUpBy(caller: string): boolean {
    const [first] = this.#pending
    return first?.caller === caller && this.#isLong
  }

  /** Sends statements from now until the end of this turn in one write, then calls `sent`. */
  collect(sent: () => void): void {
    if (this.#collects) return
    this.#collects = true
    this.connection.collect(() => {
      this.#collects = false
      sent()
    })
  }

  async query(statement: Statement, caller: string): Promise<pg.QueryResult> {
    const entry = { caller }
    if (this.#pending.size === 0) this.#since = performance.now()
    this.#pending.add(entry)
    try {
      return await this.connection.query(statement)
    } finally {
      if (this.#isLong) this.#slow.add(caller)
      this.#pending.delete(entry)
      this.#since = performance.now()
    }
  }
}

/** The line with the fewest pending statements, of those that are not held up if there are any. */
export function bestLine(lines: Iterable<ReaderLine>): ReaderLine | undefined {
  let best: ReaderLine | undefined
  for (const line of lines) if (!best || isBetter(line, best)) best = line
  return best
}

function isBetter(line: ReaderLine, other: ReaderLine): boolean {
  const isHeldUp = line.isHeldUp
  return isHeldUp === other.isHeldUp ? line.waiting < other.waiting : !isHeldUp
}
