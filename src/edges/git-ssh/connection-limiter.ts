import type { Socket } from 'node:net'

type Waiting = { readonly group: string; readonly deadline: NodeJS.Timeout; close(): void }

/**
 * Limits connections that are not active. Closes each after `timeoutMs`. Above `maximum` connections, closes the oldest one of
 * the largest group, so that a client that opens many affects only itself.
 */
export class ConnectionLimiter {
  /** Oldest first. */
  readonly #waiting = new Map<Socket, Waiting>()
  readonly #maximum: number
  readonly #timeoutMs: number

  constructor(maximum: number, timeoutMs: number) {
    this.#maximum = maximum
    this.#timeoutMs = timeoutMs
  }

  /** `group` is the group the connection counts against, such as its address. */
  add(socket: Socket, group: string, close: () => void): void {
    this.#waiting.set(socket, { group, close, deadline: setTimeout(close, this.#timeoutMs) })
    if (this.#waiting.size > this.#maximum) this.#closeOne()
  }

  /** The connection became active or closed. */
  remove(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket)?.deadline)
    this.#waiting.delete(socket)
  }

  #closeOne(): void {
    const groups = Map.groupBy(this.#waiting, ([, { group }]) => group)
    const largest = [...groups.values()].reduce((most, each) => (each.length > most.length ? each : most))
    const [socket, { close }] = largest[0]!
    this.remove(socket)
    close()
  }
}
