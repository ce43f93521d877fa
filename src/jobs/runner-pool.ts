import pg from 'pg'
import { SharedLooks } from './shared-looks.ts'
import { makesNoneDue, type RunnerStatement, soughtBy } from './worker-internals.ts'

/** The error message of pg when no connection comes within `connectionTimeoutMillis`. */
const connectTimeout = 'timeout exceeded when trying to connect'

/**
 * Connections of the runner, whose slots share their looks for jobs. graphile-worker marks a finished job without awaiting the query; an error
 * that it does not consider temporary would be an unhandled rejection, and the job would stay locked.
 */
export class RunnerPool extends pg.Pool {
  readonly #looks = new SharedLooks()
  #isOver = false

  constructor(config: pg.PoolConfig) {
    super(config)
    this.on('connect', (client) => this.#shareLooks(client))
  }

  #shareLooks(client: pg.PoolClient): void {
    const send: (...args: any[]) => any = client.query.bind(client)
    client.on('notification', () => this.#looks.changed())
    client.query = ((statement: RunnerStatement, ...callback: unknown[]) => {
      const sought = soughtBy(statement)
      if (sought !== undefined) return this.#looks.look(sought, () => send(statement))
      if (makesNoneDue(statement)) return send(statement, ...callback)
      // The next job of a queue is due when one of it has ended.
      this.#looks.changed()
      const done = send(statement, ...callback)
      if (done instanceof Promise) done.catch(() => {}).finally(() => this.#looks.changed())
      return done
    }) as pg.PoolClient['query']
  }

  // `pool.query` calls it with a callback, the runner without one.
  override connect(callback?: (...args: any[]) => void): any {
    if (callback) return super.connect(callback)
    if (this.#isOver) return new Promise(() => {})
    return super.connect().catch((error: Error) => {
      if (this.#isOver) return new Promise(() => {})
      // The runner retries after errors with this code.
      if (error.message === connectTimeout) Object.assign(error, { code: 'ETIMEDOUT' })
      throw error
    })
  }

  /** After the end, connection requests of a stopped or failed runner never resolve. */
  override end(callback?: () => void): any {
    this.#isOver = true
    return callback ? super.end(callback) : super.end()
  }
}
