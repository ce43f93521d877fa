import type { Duplex } from 'node:stream'
import type { Exit } from '../runner/protocol.ts'

export type Transfer = {
  /** Write the client's bytes to it and end it after the last one; read git's output. Destroying it ends the process. */
  readonly stream: Duplex
  /** The exit of the process. A rejected push exits with 0 (or 1, by protocol): the stream reports it to the client. */
  readonly done: Promise<Exit>
}
