import type pg from 'pg'
import type { Load } from '../kernel/shares.ts'
import { newClient } from './client.ts'
import { connectionOptions, type Planning } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import type { Statement } from './db.ts'
import { type ConnectionLimits, PipelinedConnection } from './pipelined-connection.ts'
import { bestLine, ReaderLine, SlowCallers } from './reader-line.ts'

/** Milliseconds after which an unused connection is closed. */
const usualIdleMs = 60_000

type Kind = {
  readonly connections: number
  readonly planning: Planning
  /** One connection stays open when it is not used. */
  readonly keepsOne?: boolean
}

/**
 * Single statements over a few pipelined connections: many are in flight at once, results come in order. Two to three times the
 * rate of a pool for single rows; not for transactions. Statements of one turn of the event loop are sent in one write, on the
 * connection with the fewest pending statements. Half of the connections are used, all of them while a statement takes long on each of
 * these: the server plans each text on each connection, and keeps up to 50 MB for it.
 *
 * The other half is for callers whose statements do not take long: while those of a caller do, further ones of this caller wait on the one
 * connection of the usual half that has one of them already.
 */
export class Reader implements AsyncDisposable {
  readonly #url: string
  readonly #planning: Planning
  readonly #limits: ConnectionLimits
  readonly #kept: number
  readonly #slots: (Promise<ReaderLine> | undefined)[]
  readonly #lines = new Set<ReaderLine>()
  readonly #slow = new SlowCallers()
  /** The connection for statements of this turn that may use any. */
  #turn: ReaderLine | undefined
  #sent = 0
  #ended = false
  readonly #sweeper: NodeJS.Timeout

  constructor(
    url: string,
    { connections, planning, keepsOne = false }: Kind,
    limits: ConnectionLimits,
    idleMs = usualIdleMs,
  ) {
    this.#url = url
    this.#planning = planning
    this.#limits = limits
    this.#slots = new Array(connections)
    this.#kept = keepsOne ? 1 : 0
    this.#sweeper = setInterval(() => this.#closeUnused(idleMs), idleMs / 4).unref()
  }

  /** Number of writes so far: statements issued under the same number are not sent yet. */
  get sent(): number {
    return this.#sent
  }

  /** Connections, busy connections, and statements without a result. */
  get load(): Load {
    let [running, waiting, oldestWaitMs] = [0, 0, 0]
    for (const { connection } of this.#lines) {
      if (connection.waiting > 0) running++
      waiting += connection.waiting
      oldestWaitMs = Math.max(oldestWaitMs, connection.silentMs)
    }
    return { slots: this.#slots.length, running, waiting, oldestWaitMs }
  }

  /** Runs the statement for the caller with this share key; for the service itself if it is empty. */
  async query(statement: Statement, caller = ''): Promise<pg.QueryResult> {
    const line = this.#isSlow(caller)
      ? (this.#lineOf(caller) ?? (await mapConnectionError(this.#ready(this.#usualSlots))))
      : (this.#turn ?? this.#begin(await mapConnectionError(this.#ready(this.#usedSlots()))))
    line.collect(() => {
      if (this.#turn === line) this.#turn = undefined
      this.#sent++
    })
    return await line.query(statement, caller)
  }

  /** The connection of this turn, which is the given one unless another statement has chosen one meanwhile. */
  #begin(line: ReaderLine): ReaderLine {
    this.#turn ??= line
    return this.#turn
  }

  #isSlow(caller: string): boolean {
    if (caller === '') return false
    if (this.#slow.has(caller)) return true
    for (const line of this.#lines) if (line.isHeldUpBy(caller)) return true
    return false
  }

  /** The connection of the usual half that has statements of the caller. */
  #lineOf(caller: string): ReaderLine | undefined {
    return bestLine([...this.#lines].filter((line) => line.slot < this.#usualSlots && line.serves(caller)))
  }

  /**
   * Of the first `slots` connections an idle one, else a new one while fewer are open, else the one with the fewest pending statements, of those
   * that are not held up if there are any.
   */
  async #ready(slots: number): Promise<ReaderLine> {
    const best = bestLine([...this.#lines].filter(({ slot }) => slot < slots))
    if (best?.waiting === 0) return best
    for (let slot = 0; slot < slots; slot++) {
      if (this.#slots[slot]) continue
      this.#slots[slot] = this.#connect(slot)
      return await this.#slots[slot]!
    }
    return best ?? (await this.#slots[0]!)
  }

  get #usualSlots(): number {
    return Math.ceil(this.#slots.length / 2)
  }

  #usedSlots(): number {
    let heldUp = 0
    for (const line of this.#lines) if (line.slot < this.#usualSlots && line.isHeldUp) heldUp++
    return heldUp === this.#usualSlots ? this.#slots.length : this.#usualSlots
  }

  async #connect(slot: number): Promise<ReaderLine> {
    if (this.#ended) throw new Error('the database connections are closed')
    const client = newClient({
      ...connectionOptions(this.#url, 'reader', this.#planning),
      pipeline: true,
    } as pg.ClientConfig)
    const connection = new PipelinedConnection(client, this.#limits)
    // A broken connection leaves its slot; the next statement opens another.
    let isDropped = false
    const drop = () => {
      if (isDropped) return
      isDropped = true
      this.#slots[slot] = undefined
      this.#lines.delete(line)
      if (this.#turn === line) this.#turn = undefined
    }
    const line = new ReaderLine(connection, slot, this.#slow, drop)
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
    } catch (error) {
      drop()
      throw error
    }
    this.#lines.add(line)
    return line
  }

  #closeUnused(idleMs: number): void {
    this.#slow.forgetEarlier()
    for (const line of [...this.#lines]) {
      if (this.#lines.size === this.#kept) return
      if (line.connection.unusedMs < idleMs || line.collects || line === this.#turn) continue
      line.drop()
      line.connection.client.end().catch(() => {})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearInterval(this.#sweeper)
    const lines = await Promise.allSettled(this.#slots.filter((line) => line !== undefined))
    await Promise.all(
      lines.map((line) => (line.status === 'fulfilled' ? line.value.connection.client.end() : undefined)),
    )
  }
}
