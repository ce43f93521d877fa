import { LRUCache } from 'lru-cache'

/** Pause as a multiple of the run time: with 9, the work takes a tenth of the time. */
const pauseFactor = 9
const maxPauseMs = 5 * 60_000
/** How soon work is tried again that is running. */
const whileRunningMs = 1_000

/** Delays recurring work by key. State is in memory, per process. */
export class Throttle {
  readonly #running = new Set<string>()
  readonly #until = new LRUCache<string, number>({ max: 10_000 })
  readonly #clock: () => number

  /** `clock` returns milliseconds since an arbitrary time. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Milliseconds left to wait; 0 if the work may run. */
  delayMs(key: string): number {
    if (this.#running.has(key)) return whileRunningMs
    return Math.max(0, (this.#until.get(key) ?? 0) - this.#clock())
  }

  /** Runs the work, which until its end is not due again, and starts the pause. Failed work may be repeated at once. */
  async run(key: string, work: () => Promise<void>): Promise<void> {
    this.#running.add(key)
    const began = performance.now()
    try {
      await work()
    } finally {
      this.#running.delete(key)
    }
    this.begin(key, performance.now() - began)
  }

  /** Starts the pause after a run that took `tookMs`. */
  begin(key: string, tookMs: number): void {
    this.#until.set(key, this.#clock() + Math.min(pauseFactor * tookMs, maxPauseMs))
  }
}
