import type { Load } from '../../kernel/shares.ts'

/**
 * What server processes and the runner say to each other over one unix socket.
 *
 * The first line of a connection is a `Greeting`. After a control greeting, both sides send one JSON object a line. A
 * data connection carries nothing else: it *becomes* the child's stdin and stdout. The client writes nothing after the
 * greeting until the runner has said `started`, so the runner never reads a byte that is meant for the child.
 */
export type Greeting =
  | { kind: 'control'; client: string; env: Record<string, string> }
  | ({ kind: 'run'; client: string } & RunRequest)
  | { kind: 'extra'; client: string; id: number }

/** How a child is counted: `short` ones share a small number of slots, `transfer`s another, `helper`s live on. */
export type Lane = 'short' | 'transfer' | 'helper'

export type RunRequest = {
  id: number
  argv: string[]
  /** Added to the environment that the client's control greeting named. */
  env?: Record<string, string>
  lane: Lane
  /** Nobody waits for it: it gives way to what somebody waits for. */
  background: boolean
  /** The repository: jobs on one never starve those on another. */
  owner: string
  /** The account or client address that waits for it; '' for the service itself. */
  caller: string
  /** Part of work that holds a slot of the lane already: it starts without waiting. */
  nested: boolean
  /** Counted from the start of the process. 0: no deadline. */
  timeoutMs: number
  /** False: stdin is empty. */
  stdin: boolean
  /** The child gets a second connection as its file descriptor 3. */
  extra: boolean
}

export type Exit = {
  /** `null` when a signal ended the child. */
  code: number | null
  signal: NodeJS.Signals | null
  /** The first 64 KiB. */
  stderr: string
  timedOut: boolean
}

export type RunnerNotice =
  | { ready: true; pid: number }
  | { id: number; started: number }
  | { id: number; exit: Exit }
  /** The child never ran. `full`: too many jobs wait, of this caller or of all together. */
  | { id: number; refused: string; full?: 'caller' | 'all' }
  | { load: LaneLoads; answers: number }

export type LaneLoads = Readonly<Record<Lane, Load>>

/** `load` asks for the load of the lanes; its number comes back as `answers`. */
export type ClientNotice = { kill: number; signal: NodeJS.Signals } | { load: number }

/** Splits a stream of text into lines. Feed it chunks; it keeps what is not finished. */
export const lineSplitter = (onLine: (line: string) => void) => {
  let rest = ''
  return (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  }
}
