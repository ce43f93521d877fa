import { setTimeout as delay } from 'node:timers/promises'

type Push = {
  /** Ends the input of git, which then ends by itself. */
  endInput(): void
  readonly done: Promise<unknown>
}

/** Longer than git needs to delete a quarantine, and less than a worker has for its end (`processes/forked.ts`). Then git is killed. */
const endWithinMs = 1_500

/** The pushes that a process receives. Git must end by itself: killed by a signal, it would leave its quarantine behind. */
export class RunningPushes {
  readonly #running = new Set<Push>()

  /** Remembers the push until it is done. */
  add(push: Push): void {
    this.#running.add(push)
    const forget = () => void this.#running.delete(push)
    push.done.then(forget, forget)
  }

  /** Ends the input of all pushes, as if their clients had disconnected. Resolves when they are done, or after a second or two. */
  async end(): Promise<void> {
    const all = [...this.#running]
    if (all.length === 0) return
    for (const push of all) push.endInput()
    await Promise.race([Promise.allSettled(all.map(({ done }) => done)), delay(endWithinMs, undefined, { ref: false })])
  }
}
