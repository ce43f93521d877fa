import pg from 'pg'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import { type ConnectionLimits, PipelinedConnection } from './pipelined-connection.ts'

/** Time after which an unused connection is closed: each costs the server 5 to 20 MB. */
const idleMs = 10_000

/** Connections, opened when they are needed, of which each serves one transaction or one statement at a time. */
export class ConnectionPool implements AsyncDisposable {
  readonly #pool: pg.Pool
  readonly #lines = new WeakMap<pg.ClientBase, PipelinedConnection>()

  constructor(url: string, max: number, limits: ConnectionLimits) {
    this.#pool = new pg.Pool({
      ...connectionOptions(url, 'writer'),
      ...{ pipeline: true },
      max,
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

  /** Runs `work` with a connection, which is closed afterwards if `work` calls `close`. */
  async use<T>(work: (line: PipelinedConnection, close: () => void) => Promise<T>): Promise<T> {
    const client = await mapConnectionError(this.#pool.connect())
    let closes = false
    try {
      return await work(this.#lines.get(client)!, () => {
        closes = true
      })
    } finally {
      client.release(closes)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
  }
}
