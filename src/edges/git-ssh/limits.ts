import type { BodyPace } from '../http/body/pace.ts'
import { httpLimits } from '../http/limits.ts'

/** Limits on the resources of one client, or of all unauthenticated clients. Per process. */
export type SshLimits = {
  /** Maximum time from the connection to the proof of a key, in milliseconds. */
  readonly signInMs: number
  /** Maximum unauthenticated connections. */
  readonly maxUnauthenticated: number
  /** Rejected keys or signatures after which a connection ends. */
  readonly maxAttempts: number
  /** Maximum concurrent commands of one connection. */
  readonly maxSessions: number
  /** Maximum idle time of a connection, in milliseconds. */
  readonly idleMs: number
  /** Maximum idle connections. */
  readonly maxIdle: number
  /** Maximum time without traffic during a transfer, in milliseconds. */
  readonly stalledMs: number
  /** Minimum speed of what a client sends during a transfer. */
  readonly pace: BodyPace
}

export const sshLimits: SshLimits = {
  signInMs: 20_000,
  maxUnauthenticated: 250,
  // An agent offers every key it holds, one after the other.
  maxAttempts: 10,
  maxSessions: 10,
  idleMs: 10 * 60_000,
  // Each takes about 100 KB.
  maxIdle: 500,
  stalledMs: 10 * 60_000,
  pace: httpLimits.pushPace,
}
