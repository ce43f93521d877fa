/** How much of us one client may hold. */
export type HttpLimits = {
  /** An answer of which the client takes nothing. */
  readonly stalledMs: number
}

export const httpLimits: HttpLimits = {
  // Whoever unpacks what he reads to a slow disk rests for seconds.
  stalledMs: 120_000,
}
