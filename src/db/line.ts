import type pg from 'pg'
import type { Statement } from './db.ts'
import { answered } from './lost.ts'
import { KnownStatements, read, streamOf } from './pg-internals.ts'
import { prepared } from './statement.ts'

/**
 * A connection on which no statement waits for the one before it: answers come in order. What is asked in one turn of the
 * event loop goes out in one write. One that answers nothing for longer than any statement may take is given up: the
 * server's machine may be gone without a word.
 */
export class Line {
  readonly client: pg.Client
  readonly #known = new KnownStatements()
  readonly #stream: ReturnType<typeof streamOf>
  /** What has no answer yet. */
  #waiting = 0
  /** `performance.now()` of the last answer, or of the question after which one is due. */
  #heard = 0

  /** `client` must be one of pg's that pipeline. */
  constructor(client: pg.Client, patienceMs: number) {
    this.client = client
    this.#stream = streamOf(client)
    const watch = setInterval(() => {
      if (this.#waiting > 0 && performance.now() - this.#heard > patienceMs)
        this.#stream.destroy(new Error('Connection terminated: no answer'))
    }, patienceMs / 4).unref()
    client.once('end', () => clearInterval(watch))
  }

  get waiting(): number {
    return this.#waiting
  }

  /** How long the statement at the head has had no answer, in milliseconds; 0 when there is none. */
  get silentMs(): number {
    return this.#waiting === 0 ? 0 : performance.now() - this.#heard
  }

  /** Collects what is asked until the end of this turn, then calls `sent`. Not to be asked twice in one turn. */
  collect(sent: () => void): void {
    this.#stream.cork()
    setImmediate(() => {
      this.#stream.uncork()
      sent()
    })
  }

  query(statement: Statement): Promise<pg.QueryResult> {
    return this.#answer(read(this.client, this.#known, prepared(statement)))
  }

  /** `begin` and the like. */
  command(text: string): Promise<pg.QueryResult> {
    return this.#answer(this.client.query(text))
  }

  async #answer(asked: Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    if (this.#waiting++ === 0) this.#heard = performance.now()
    try {
      return await answered(asked)
    } finally {
      this.#waiting--
      this.#heard = performance.now()
    }
  }
}
