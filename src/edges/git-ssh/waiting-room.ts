import type { Socket } from 'node:net'

type Waiting = { readonly crowd: string; readonly deadline: NodeJS.Timeout; dismiss(): void }

/**
 * Limits connections that are not active. Closes each after `longestMs`. Above `places` connections, closes the oldest one of
 * the largest group, so that a client that opens many affects only itself.
 */
export class WaitingRoom {
  /** Oldest first. */
  readonly #waiting = new Map<Socket, Waiting>()
  readonly #places: number
  readonly #longestMs: number

  constructor(places: number, longestMs: number) {
    this.#places = places
    this.#longestMs = longestMs
  }

  /** `crowd` is the group the connection counts against, such as its address. */
  enter(socket: Socket, crowd: string, dismiss: () => void): void {
    this.#waiting.set(socket, { crowd, dismiss, deadline: setTimeout(dismiss, this.#longestMs) })
    if (this.#waiting.size > this.#places) this.#dismissOne()
  }

  /** The connection became active or closed. */
  leave(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket)?.deadline)
    this.#waiting.delete(socket)
  }

  #dismissOne(): void {
    const crowds = Map.groupBy(this.#waiting, ([, { crowd }]) => crowd)
    const largest = [...crowds.values()].reduce((most, each) => (each.length > most.length ? each : most))
    const [socket, { dismiss }] = largest[0]!
    this.leave(socket)
    dismiss()
  }
}
