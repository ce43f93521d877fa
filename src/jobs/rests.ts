import { LRUCache } from 'lru-cache'

/** So many times as long as it took: then it takes a tenth of the time. */
const times = 9
const mostMs = 5 * 60_000

/** How long what is due again and again is left alone after it was done. Known to this process only: another begins anew. */
export class Rests {
  readonly #until = new LRUCache<string, number>({ max: 10_000 })
  readonly #clock: () => number

  /** `clock` tells milliseconds since some moment. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Milliseconds that are left; 0 when it may be done. */
  left(key: string): number {
    return Math.max(0, (this.#until.get(key) ?? 0) - this.#clock())
  }

  /** Begins the rest of what has just been done, and took so long. */
  begin(key: string, tookMs: number): void {
    this.#until.set(key, this.#clock() + Math.min(times * tookMs, mostMs))
  }
}
