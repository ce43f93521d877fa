/** A source of random numbers with a seed: the same seed gives the same requests. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)]!
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** Each value with this probability. */
  some<T>(values: readonly T[], share: number): T[] {
    return values.filter(() => this.chance(share))
  }

  /** The gap to the next arrival in ms, where arrivals are independent of each other. */
  gapMs(perSecond: number): number {
    return (-Math.log(1 - this.next()) * 1000) / perSecond
  }
}
