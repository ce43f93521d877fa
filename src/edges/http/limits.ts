import type { AbandonedLimit } from './abandoned-requests.ts'
import type { BodyPace } from './body/pace.ts'

/** How much of us one client may hold. */
export type HttpLimits = {
  /** An answer of which the client takes nothing. */
  readonly stalledMs: number
  /** How slowly what a client wants of a fetch may come, which it has made up its mind about. */
  readonly fetchPace: BodyPace
  /** The same of a push, before which git may think about the pack for minutes. */
  readonly pushPace: BodyPace
  /** Requests that the anonymous clients of one network abandon. */
  readonly abandoned: AbandonedLimit
}

export const httpLimits: HttpLimits = {
  // A client that unpacks to a slow disk rests for seconds.
  stalledMs: 120_000,
  fetchPace: { graceMs: 120_000, bytesPerSecond: 2048 },
  pushPace: { graceMs: 600_000, bytesPerSecond: 2048 },
  abandoned: { burst: 100, perSecond: 5 },
}
