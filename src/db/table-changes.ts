import type { Moment } from './moment.ts'

/** Transactions that are remembered for each table. */
const maximum = 32

/** The last transactions that have changed a table, as far as a process has learnt of them. */
export class TableChanges {
  readonly #last: { readonly transaction: string; readonly learnt: number }[] = []
  /** When the last forgotten one was learnt. */
  #forgotten = 0

  add(transaction: string, learnt: number): void {
    this.#last.push({ transaction, learnt })
    if (this.#last.length > maximum) this.#forgotten = this.#last.shift()!.learnt
  }

  /** Whether one of those that were learnt after `at` was not visible at the moment. */
  isAfter(moment: Moment, at: number): boolean {
    if (this.#forgotten > at) return true
    return this.#last.some(({ transaction, learnt }) => learnt > at && !moment.sees(transaction))
  }
}
