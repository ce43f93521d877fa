/** Timeouts of git in milliseconds; 0 for no limit. Transfers have their own. */
export type Timeouts = {
  /** Of one process. */
  readonly processMs: number
  /** Of one process that should be quick, such as blame. */
  readonly quickMs: number
  /** Of one answer of a long-lived process. */
  readonly answerMs: number
}

export const defaultTimeouts: Timeouts = { processMs: 60_000, quickMs: 20_000, answerMs: 30_000 }
