import type { Socket } from 'node:net'

type Waiting = { readonly crowd: string; readonly deadline: NodeJS.Timeout; dismiss(): void }

/**
 * Connections of which nothing is heard: none stays longer than `longestMs`. When there are more than `places`, the one that
 * has waited longest of the largest crowd goes: so those who stall stand in one another's way, not in others'.
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

  /** `crowd` is what those have in common of whom too many are there at once. */
  enter(socket: Socket, crowd: string, dismiss: () => void): void {
    this.#waiting.set(socket, { crowd, dismiss, deadline: setTimeout(dismiss, this.#longestMs) })
    if (this.#waiting.size > this.#places) this.#dismissOne()
  }

  /** Is heard of, or gone. */
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
