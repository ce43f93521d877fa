import type { Logger } from 'pino'

/** Maximum lines per minute in one process. */
export const linesPerMinute = 30
const windowMs = 60_000

/** Words of routes and numeric ids. Everything else, such as a name or a token, is left out of the log. */
const isHarmless = (segment: string): boolean => /^([a-z_]{1,40}|\d{1,19})$/.test(segment)

const shown = (path: string): string =>
  path
    .split('/', 20)
    .map((segment) => (segment === '' || segment === 'v4' || isHarmless(segment) ? segment : '*'))
    .join('/')

/**
 * Logs requests to routes that the API does not have, because they show an operator which calls a client misses. The line
 * has no query and only harmless parts of the path, so no token. Further lines of the same minute are counted, and the
 * next line has their number.
 */
export class UnknownRoutes {
  readonly #log: Logger
  readonly #clock: () => number
  #windowEnds = 0
  #lines = 0
  #suppressed = 0

  /** `clock` returns milliseconds since an arbitrary time. */
  constructor(log: Logger, clock: () => number = () => performance.now()) {
    this.#log = log
    this.#clock = clock
  }

  /** `path` without the query. */
  report(method: string, path: string, requestId: string): void {
    const now = this.#clock()
    if (now >= this.#windowEnds) {
      this.#windowEnds = now + windowMs
      this.#lines = 0
    }
    if (this.#lines >= linesPerMinute) {
      this.#suppressed++
      return
    }
    this.#lines++
    const suppressed = this.#suppressed
    this.#suppressed = 0
    this.#log.info(
      { method, path: shown(path), request_id: requestId, ...(suppressed > 0 && { suppressed }) },
      'unknown route',
    )
  }
}
