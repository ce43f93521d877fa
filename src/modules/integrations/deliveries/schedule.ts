/** Times of the sender in milliseconds; tests shorten them. */
export type HookTimes = {
  /** For a request with its redirects and response. */
  readonly request: number
  /** Until the first retry of a delivery; each further one takes three times as long, up to `maxRetry`. */
  readonly retry: number
  readonly maxRetry: number
  /** Until the first attempt of a paused hook; doubles up to `maxPause`. */
  readonly pause: number
  readonly maxPause: number
}

export const hookTimes: HookTimes = {
  request: 10_000,
  retry: 2_000,
  maxRetry: 4 * 3_600_000,
  pause: 10_000,
  maxPause: 3_600_000,
}

/** Attempts of a delivery before it is given up: a day after the first one, with the usual times. */
export const maxAttempts = 15

/** Failed requests in a row after which a hook is paused. */
export const pauseAfter = 10

/**
 * Failed requests in a row after which the deliveries of a hook are tried one at a time. Fewer change nothing: a receiver that fails at
 * times gets as much as one that does not, and one that does not answer delays only what waits for it.
 */
export const aloneAfter = 5

/** Until the next attempt after this many. */
export const retryMs = ({ retry, maxRetry }: HookTimes, attempts: number): number =>
  Math.min(retry * 3 ** (attempts - 1), maxRetry)

/** How long a hook is paused after this many failures in a row; 0 if it is not. */
export const pauseMs = ({ pause, maxPause }: HookTimes, failures: number): number =>
  failures < pauseAfter ? 0 : Math.min(pause * 2 ** Math.min(failures - pauseAfter, 30), maxPause)
