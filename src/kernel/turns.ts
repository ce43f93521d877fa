import { setImmediate } from 'node:timers/promises'

/** Maximum milliseconds of work before other requests have their turn. */
const turnMs = 20

/** Shares the process with other requests during long work: expressions of users, or edits of thousands of files. */
export class Turns {
  #began = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#began > turnMs
  }

  /** Lets others have their turn. */
  async next(): Promise<void> {
    await setImmediate()
    this.#began = performance.now()
  }
}
