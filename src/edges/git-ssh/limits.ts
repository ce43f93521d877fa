/** How much of us one client, or all that nobody knows, may hold. Of each process. */
export type SshLimits = {
  /** From the connection to the proof of a key. */
  readonly signInMs: number
  /** Connections that have not shown a key. */
  readonly strangers: number
  /** Keys, or signatures, that are refused before a connection ends. */
  readonly attempts: number
  /** Commands at a time on one connection. */
  readonly sessions: number
  /** A connection on which nothing runs. */
  readonly idleMs: number
  /** Connections on which nothing runs. */
  readonly idle: number
  /** A transfer in which no byte moves. */
  readonly stalledMs: number
}

export const sshLimits: SshLimits = {
  signInMs: 20_000,
  strangers: 250,
  // An agent offers every key it holds, one after the other.
  attempts: 10,
  sessions: 10,
  idleMs: 10 * 60_000,
  // Each holds some 100 KB.
  idle: 500,
  stalledMs: 10 * 60_000,
}
