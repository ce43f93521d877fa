import { setTimeout as pause } from 'node:timers/promises'

/** Shorter pauses are not exact. */
const minPauseMs = 20

/** Limits the bytes that are read in a second, so that the service keeps most of the disk and the processor. */
export class Pace {
  readonly #bytesPerMs: number
  #free = 0

  constructor(megabytesPerSecond: number) {
    this.#bytesPerMs = megabytesPerSecond * 1000
  }

  /** Waits until this many bytes may be read. */
  async take(bytes: number): Promise<void> {
    const now = performance.now()
    this.#free = Math.max(this.#free, now) + bytes / this.#bytesPerMs
    const ahead = this.#free - now
    if (ahead > minPauseMs) await pause(ahead)
  }
}
