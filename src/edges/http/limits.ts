import type { AbandonedLimit } from './abandoned-requests.ts'
import type { LateBodyLimits } from './body/late-body.ts'
import type { BodyPace } from './body/pace.ts'

/** Limits on the resources that one client holds. */
export type HttpLimits = {
  /** Maximum time without progress of a response, in milliseconds. */
  readonly stalledMs: number
  /** Minimum speed of a fetch request. */
  readonly fetchPace: BodyPace
  /** Minimum speed of a push, before which git may compress the pack for minutes. */
  readonly pushPace: BodyPace
  /** What is read of a request after its response. */
  readonly lateBody: LateBodyLimits
  /** Requests that the anonymous clients of one network abandon. */
  readonly abandoned: AbandonedLimit
}

export const httpLimits: HttpLimits = {
  // A client that unpacks to a slow disk pauses for seconds.
  stalledMs: 120_000,
  fetchPace: { graceMs: 120_000, bytesPerSecond: 2048 },
  pushPace: { graceMs: 600_000, bytesPerSecond: 2048 },
  lateBody: { bytes: 64 * 1024 * 1024, ms: 10_000 },
  abandoned: { burst: 100, perSecond: 5 },
}
