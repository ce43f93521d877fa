import type { Load } from '../../kernel/shares.ts'

/**
 * The protocol between server processes and the runner over one unix socket. The first line of a connection is a `Greeting`.
 * After a control greeting, both sides send one JSON object per line. A data connection carries nothing else: it *becomes* the
 * child's stdin and stdout. The client writes nothing after the greeting until the runner has sent `started`, so the runner
 * never reads a byte meant for the child.
 */
export type Greeting =
  | { kind: 'control'; client: string; env: Record<string, string> }
  | ({ kind: 'run'; client: string } & RunRequest)
  | { kind: 'extra'; client: string; id: number }

/** The pool of slots a child counts against: `short` and `transfer` have one each; `helper`s are long-lived. */
export type Lane = 'short' | 'transfer' | 'helper'

export type RunRequest = {
  id: number
  argv: string[]
  /** Added to the environment from the client's control greeting. */
  env?: Record<string, string>
  lane: Lane
  /** No client waits for it: it runs at lower priority. */
  background: boolean
  /** The repository: jobs on one repository never starve those on another. */
  owner: string
  /** The account or client address that waits for it; '' for the service itself. */
  caller: string
  /** Part of work that already holds a slot of the lane: starts without waiting. */
  nested: boolean
  /** From the start of the process, in milliseconds. 0: no limit. */
  timeoutMs: number
  /** False: stdin is empty. */
  stdin: boolean
  /** The child gets a second connection as its file descriptor 3. */
  extra: boolean
}

export type Exit = {
  /** `null` if a signal ended the child. */
  code: number | null
  signal: NodeJS.Signals | null
  /** The first 64 KiB. */
  stderr: string
  timedOut: boolean
}

/** The exit of what ended well, and of what was cut off, without a process. */
export const endedWell: Exit = { code: 0, signal: null, stderr: '', timedOut: false }
export const cutOff: Exit = { ...endedWell, code: null, signal: 'SIGTERM' }

export type RunnerNotice =
  | { ready: true; pid: number }
  | { id: number; started: number }
  | { id: number; exit: Exit }
  /** The child never ran. `full`: too many jobs wait, of this caller or of all together. */
  | { id: number; refused: string; full?: 'caller' | 'all' }
  | { load: LaneLoads; answers: number }
  | { owners: string[]; answers: number }

export type LaneLoads = Readonly<Record<Lane, Load>>

/**
 * `load` requests the load of the lanes, `owners` the repositories of transfers that run or wait, of all clients; the reply has its number as
 * `answers`.
 */
export type ClientNotice = { kill: number; signal: NodeJS.Signals } | { load: number } | { owners: number }

/** Splits a stream of text into lines. Buffers an incomplete line. */
export const lineSplitter = (onLine: (line: string) => void) => {
  let rest = ''
  return (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  }
}
