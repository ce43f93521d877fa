/** How long git may take, in milliseconds; 0 for ever. Transfers have their own. */
export type Patience = {
  /** One process. */
  readonly processMs: number
  /** One process that should be quick: who wrote which lines. */
  readonly quickMs: number
  /** The answer of a process that lives on: an object. */
  readonly answerMs: number
}

export const usualPatience: Patience = { processMs: 60_000, quickMs: 20_000, answerMs: 30_000 }
