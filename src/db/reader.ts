import type pg from 'pg'
import type { Load } from '../kernel/shares.ts'
import { newClient } from './client.ts'
import { connectionOptions, type Planning } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import type { Statement } from './db.ts'
import { type ConnectionLimits, PipelinedConnection } from './pipelined-connection.ts'

/** Milliseconds after which an unused connection is closed. */
const usualIdleMs = 60_000

type Kind = {
  readonly connections: number
  readonly planning: Planning
  /** One connection stays open when it is not used. */
  readonly keepsOne?: boolean
}

/** A statement that takes longer, in milliseconds, holds up those sent after it on the same connection. */
const longMs = 100

/**
 * Single statements over a few pipelined connections: many are in flight at once, results come in order. Two to three times the
 * rate of a pool for single rows; not for transactions. Statements of one turn of the event loop are sent in one write, on the
 * connection with the fewest pending statements. Half of the connections are used, all of them while a statement takes long on each of
 * these: the server plans each text on each connection, and keeps up to 50 MB for it.
 */
export class Reader implements AsyncDisposable {
  readonly #url: string
  readonly #planning: Planning
  readonly #limits: ConnectionLimits
  readonly #kept: number
  readonly #slots: (Promise<PipelinedConnection> | undefined)[]
  /** With the slot, and what removes the connection from it. */
  readonly #lines = new Map<PipelinedConnection, { readonly slot: number; readonly drop: () => void }>()
  #turn: PipelinedConnection | undefined
  #sent = 0
  #next = 0
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
    for (const line of this.#lines.keys()) {
      if (line.waiting > 0) running++
      waiting += line.waiting
      oldestWaitMs = Math.max(oldestWaitMs, line.silentMs)
    }
    return { slots: this.#slots.length, running, waiting, oldestWaitMs }
  }

  async query(statement: Statement): Promise<pg.QueryResult> {
    const line = this.#turn ?? this.#begin(await mapConnectionError(this.#ready()))
    return line.query(statement)
  }

  /** Collects statements until the end of this turn. */
  #begin(line: PipelinedConnection): PipelinedConnection {
    if (this.#turn) return this.#turn
    this.#turn = line
    line.collect(() => {
      this.#turn = undefined
      this.#sent++
    })
    return line
  }

  /** An idle connection, else a new one while there are fewer than are used, else the one with the fewest pending statements. */
  async #ready(): Promise<PipelinedConnection> {
    const used = this.#usedSlots()
    let [best, open]: [PipelinedConnection | undefined, number] = [undefined, 0]
    for (const [line, { slot }] of this.#lines) {
      if (slot >= used) continue
      open++
      if (!best || line.waiting < best.waiting) best = line
    }
    if (best && (best.waiting === 0 || open === used)) return best
    const slot = this.#next % used
    this.#next = slot + 1
    this.#slots[slot] ??= this.#connect(slot)
    return this.#slots[slot]
  }

  #usedSlots(): number {
    const usual = Math.ceil(this.#slots.length / 2)
    let long = 0
    for (const [line, { slot }] of this.#lines) if (slot < usual && line.silentMs > longMs) long++
    return long === usual ? this.#slots.length : usual
  }

  async #connect(slot: number): Promise<PipelinedConnection> {
    if (this.#ended) throw new Error('the database connections are closed')
    const client = newClient({
      ...connectionOptions(this.#url, 'reader', this.#planning),
      pipeline: true,
    } as pg.ClientConfig)
    const line = new PipelinedConnection(client, this.#limits)
    // A broken connection leaves its slot; the next statement opens another.
    let isDropped = false
    const drop = () => {
      if (isDropped) return
      isDropped = true
      this.#slots[slot] = undefined
      this.#lines.delete(line)
      if (this.#turn === line) this.#turn = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
    } catch (error) {
      drop()
      throw error
    }
    this.#lines.set(line, { slot, drop })
    return line
  }

  #closeUnused(idleMs: number): void {
    for (const [line, { drop }] of [...this.#lines]) {
      if (this.#lines.size === this.#kept) return
      if (line.unusedMs < idleMs || line === this.#turn) continue
      drop()
      line.client.end().catch(() => {})
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearInterval(this.#sweeper)
    const lines = await Promise.allSettled(this.#slots.filter((line) => line !== undefined))
    await Promise.all(lines.map((line) => (line.status === 'fulfilled' ? line.value.client.end() : undefined)))
  }
}
