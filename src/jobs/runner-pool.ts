import pg from 'pg'

/** The error message of pg when no connection comes within `connectionTimeoutMillis`. */
const connectTimeout = 'timeout exceeded when trying to connect'

/**
 * Connections of the runner. graphile-worker marks a finished job without awaiting the query; an error that it does not
 * consider temporary would be an unhandled rejection, and the job would stay locked.
 */
export class RunnerPool extends pg.Pool {
  #isOver = false

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
