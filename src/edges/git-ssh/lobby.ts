import type { Socket } from 'node:net'
import type { SshLimits } from './limits.ts'

type Stranger = { readonly socket: Socket; readonly address: string; readonly deadline: NodeJS.Timeout }

/**
 * Connections that have not shown a key yet. None stays longer than `signInMs`. When there are too many, the one that has
 * waited longest of the address with the most of them goes: so those who stall stand in one another's way, not in others'.
 */
export class Lobby {
  /** Oldest first. */
  readonly #strangers = new Map<Socket, Stranger>()
  readonly #limits: SshLimits

  constructor(limits: SshLimits) {
    this.#limits = limits
  }

  enter(socket: Socket): void {
    const deadline = setTimeout(() => socket.destroy(), this.#limits.signInMs)
    this.#strangers.set(socket, { socket, address: socket.remoteAddress ?? '', deadline })
    socket.once('close', () => this.leave(socket))
    if (this.#strangers.size > this.#limits.strangers) this.#mostCrowding()?.socket.destroy()
  }

  /** Signed in, or gone. */
  leave(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket)?.deadline)
    this.#strangers.delete(socket)
  }

  #mostCrowding(): Stranger | undefined {
    const crowds = Map.groupBy(this.#strangers.values(), ({ address }) => address)
    const largest = [...crowds.values()].reduce((most, each) => (each.length > most.length ? each : most))
    return largest[0]
  }
}
