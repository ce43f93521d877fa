/** Failed updates in a row after which a mirror stops, until a user starts it again. */
export const maxFailures = 14

/** Seconds until the next update: doubles with each failure, up to the maximum. */
export const delaySeconds = (baseSeconds: number, failures: number, maxSeconds: number): number =>
  Math.min(baseSeconds * 2 ** failures, maxSeconds)

/** Timeout of a connection of a mirror, in milliseconds. */
export const mirrorTimeoutMs = 30 * 60_000
