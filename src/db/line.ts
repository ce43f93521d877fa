import type pg from 'pg'
import type { Statement } from './db.ts'
import { answered } from './lost.ts'
import { KnownStatements, read } from './read.ts'
import { prepared } from './statement.ts'

type Stream = { cork(): void; uncork(): void }

/**
 * A connection on which no statement waits for the one before it: answers come in order. What is asked in one turn of the
 * event loop goes out in one write.
 */
export class Line {
  readonly client: pg.Client
  readonly #known = new KnownStatements()
  readonly #stream: Stream
  /** Statements without an answer yet. */
  waiting = 0

  /** `client` must be one of pg's that pipeline. */
  constructor(client: pg.Client) {
    this.client = client
    this.#stream = (client as unknown as { connection: { stream: Stream } }).connection.stream
  }

  /** Collects what is asked until the end of this turn, then calls `sent`. Not to be asked twice in one turn. */
  collect(sent: () => void): void {
    this.#stream.cork()
    setImmediate(() => {
      this.#stream.uncork()
      sent()
    })
  }

  async query(statement: Statement): Promise<pg.QueryResult> {
    this.waiting++
    try {
      return await answered(read(this.client, this.#known, prepared(statement)))
    } finally {
      this.waiting--
    }
  }
}
