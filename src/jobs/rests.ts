import { LRUCache } from 'lru-cache'

/** Pause as a multiple of the run time: with 9, the work takes a tenth of the time. */
const times = 9
const mostMs = 5 * 60_000

/** Delays recurring work by key. State is in memory, per process. */
export class Rests {
  readonly #until = new LRUCache<string, number>({ max: 10_000 })
  readonly #clock: () => number

  /** `clock` returns milliseconds since an arbitrary time. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Milliseconds left to wait; 0 if the work may run. */
  left(key: string): number {
    return Math.max(0, (this.#until.get(key) ?? 0) - this.#clock())
  }

  /** Starts the pause after a run that took `tookMs`. */
  begin(key: string, tookMs: number): void {
    this.#until.set(key, this.#clock() + Math.min(times * tookMs, mostMs))
  }
}
