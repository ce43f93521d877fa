import pg from 'pg'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import { type ConnectionLimits, PipelinedConnection } from './pipelined-connection.ts'

/** Time in milliseconds after which an unused connection is closed: each costs the server 5 to 20 MB. */
const idleMs = 10_000

/** A transaction that has waited as long, in milliseconds, opens another connection: the others may wait for locks. */
const longMs = 100

/** A connection that one transaction holds. */
export type Held = {
  readonly line: PipelinedConnection
  /** Gives it back; closes it if it cannot be used again. */
  release(isBroken: boolean): void
}

/**
 * Connections for transactions. Half of them are used, the others only by transactions that have waited long: a new connection loads the
 * catalogue and plans each statement again, which takes longer than most transactions that it would not wait for.
 */
export class Writers implements AsyncDisposable {
  readonly #pool: pg.Pool
  readonly #usual: number
  readonly #lines = new WeakMap<pg.ClientBase, PipelinedConnection>()
  /** Transactions that hold a connection, or are about to, without those inside others. */
  #running = 0
  /** What starts each waiting transaction, the oldest first. */
  readonly #waiting = new Set<() => void>()

  constructor(url: string, connections: number, limits: ConnectionLimits) {
    this.#usual = Math.ceil(connections / 2)
    this.#pool = new pg.Pool({
      ...connectionOptions(url, 'writer'),
      ...{ pipeline: true },
      max: connections,
      idleTimeoutMillis: idleMs,
    })
    // A connection that breaks leaves the pool, or fails the statement it is used for; without listeners, for idle ones and
    // for those in use, it would end the process.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => {
      client.on('error', () => {})
      this.#lines.set(client, new PipelinedConnection(client as unknown as pg.Client, limits))
    })
  }

  /** A connection for one transaction. One inside another has it without a wait: the other ends after it. */
  async take({ isNested }: { isNested: boolean }): Promise<Held> {
    if (isNested) return this.#connect(() => {})
    if (this.#running < this.#usual) this.#running++
    else await this.#turn()
    return this.#connect(() => this.#end())
  }

  async #connect(end: () => void): Promise<Held> {
    try {
      const client = await mapConnectionError(this.#pool.connect())
      const release = (isBroken: boolean) => {
        client.release(isBroken)
        end()
      }
      return { line: this.#lines.get(client)!, release }
    } catch (error) {
      end()
      throw error
    }
  }

  /** Resolves when another transaction ends, or after `longMs`. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer)
        this.#waiting.delete(start)
        this.#running++
        resolve()
      }
      const timer = setTimeout(start, longMs)
      this.#waiting.add(start)
    })
  }

  /** While others wait, the next one takes the place, so that as many connections are in use as those that waited long have opened. */
  #end(): void {
    this.#running--
    const [next] = this.#waiting
    next?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
  }
}
