import type pg from 'pg'
import { mapConnectionError } from './connection-errors.ts'
import type { Statement } from './db.ts'
import { type Columns, read, streamOf } from './pg-internals.ts'
import { PreparedStatements } from './prepared-statements.ts'

export type ConnectionLimits = {
  /** Milliseconds without any response after which the connection is closed. */
  readonly answerTimeoutMs: number
  /** Maximum memory of the server for its prepared statements; the default of `PreparedStatements` if absent. */
  readonly preparedBytes?: number | undefined
}

/**
 * A pipelined connection: statements do not wait for the results of earlier ones, and results come in order. Statements of one turn
 * of the event loop are sent in one write. A connection without any response for longer than any statement may take is closed: the
 * server's machine may be gone.
 */
export class PipelinedConnection {
  readonly client: pg.Client
  readonly #statements: PreparedStatements<Columns>
  readonly #stream: ReturnType<typeof streamOf>
  /** Statements without a result. */
  #waiting = 0
  /** As `answerTimeoutMs`; longer during a transaction with long statements. */
  #answerTimeoutMs: number
  readonly #usualTimeoutMs: number
  /** `performance.now()` of the last response, or of the first statement sent after it. */
  #heard = performance.now()

  /** `client` must be a client of pg with pipelining. */
  constructor(client: pg.Client, { answerTimeoutMs, preparedBytes }: ConnectionLimits) {
    this.client = client
    this.#statements = new PreparedStatements(preparedBytes)
    this.#stream = streamOf(client)
    this.#usualTimeoutMs = answerTimeoutMs
    this.#answerTimeoutMs = answerTimeoutMs
    const watch = setInterval(() => {
      if (this.#waiting > 0 && performance.now() - this.#heard > this.#answerTimeoutMs)
        this.#stream.destroy(new Error('Connection terminated: no answer'))
    }, answerTimeoutMs / 4).unref()
    client.once('end', () => clearInterval(watch))
  }

  /** Milliseconds since its last result, or since it was opened; 0 while a statement has none. */
  get unusedMs(): number {
    return this.#waiting > 0 ? 0 : performance.now() - this.#heard
  }

  get waiting(): number {
    return this.#waiting
  }

  /** How long the first statement has waited for its result, in milliseconds; 0 if there is none. */
  get silentMs(): number {
    return this.#waiting === 0 ? 0 : performance.now() - this.#heard
  }

  /** Collects statements until the end of this turn, then calls `sent`. Call it at most once per turn. */
  collect(sent: () => void): void {
    this.#stream.cork()
    setImmediate(() => {
      this.#stream.uncork()
      sent()
    })
  }

  /** Adds to the time without a response after which the connection is closed, until `expectShortStatements`. */
  expectLongStatements(ms: number): void {
    this.#answerTimeoutMs = this.#usualTimeoutMs + ms
  }

  expectShortStatements(): void {
    this.#answerTimeoutMs = this.#usualTimeoutMs
  }

  query(statement: Statement): Promise<pg.QueryResult> {
    return this.#answer(read(this.client, this.#statements, statement))
  }

  /** Statements such as `begin`. */
  command(text: string): Promise<pg.QueryResult> {
    return this.#answer(this.client.query(text))
  }

  async #answer(asked: Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    if (this.#waiting++ === 0) this.#heard = performance.now()
    try {
      return await mapConnectionError(asked)
    } finally {
      this.#waiting--
      this.#heard = performance.now()
    }
  }
}
