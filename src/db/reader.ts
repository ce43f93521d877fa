import pg from 'pg'
import { connectionOptions } from './connection.ts'
import type { Sql } from './sql.ts'
import { prepared } from './statement.ts'

/**
 * Single statements over a few pipelined connections: many are on the wire at once, answers come in order.
 * Two to three times the rate of a pool for single rows; not for transactions.
 */
export class Reader implements AsyncDisposable {
  readonly #url: string
  readonly #clients: (Promise<pg.Client> | undefined)[]
  #next = 0
  #ended = false

  constructor(url: string, connections: number) {
    this.#url = url
    this.#clients = new Array(connections)
  }

  async query(statement: Sql): Promise<pg.QueryResult> {
    const client = await this.#client()
    return client.query(prepared(statement))
  }

  #client(): Promise<pg.Client> {
    const slot = this.#next
    this.#next = (slot + 1) % this.#clients.length
    return (this.#clients[slot] ??= this.#connect(slot))
  }

  async #connect(slot: number): Promise<pg.Client> {
    if (this.#ended) throw new Error('the database connections are closed')
    const client = new pg.Client({ ...connectionOptions(this.#url, 'reader'), pipeline: true } as pg.ClientConfig)
    // A broken connection leaves its slot; the next statement opens another.
    const drop = () => {
      this.#clients[slot] = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
    } catch (error) {
      drop()
      throw error
    }
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    const clients = await Promise.allSettled(this.#clients.filter((client) => client !== undefined))
    await Promise.all(clients.map((client) => (client.status === 'fulfilled' ? client.value.end() : undefined)))
  }
}
