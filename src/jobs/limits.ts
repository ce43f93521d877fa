/**
 * The limit of one holder, such as a user, who is admitted no more jobs than `atMost`, and fewer than are free of each of the limits `of`, which
 * have numbers: two holders never have all.
 */
type ShareLimit = { readonly atMost: number; readonly of: readonly string[] }

/** Names of limits with the number of jobs that each admits at once. */
export type JobLimits = Readonly<Record<string, number | ShareLimit>>

/** Number of jobs that run concurrently, apart from slow ones; further jobs wait. */
export const jobsAtOnce = 6

/** Number of slow jobs that run concurrently: all that their limits and queues admit together, so that no kind waits for another. */
export const slowJobsAtOnce = 27

/** Maximum long jobs at once, and of them for one user. */
const [longJobs, longJobsOfUser] = [4, 2]

/** The limits of a job that may take minutes and that a user can request any number of times. */
export const longJobLimits = (userId: number): JobLimits => ({
  'long jobs': longJobs,
  [`long jobs: user ${userId}`]: { atMost: longJobsOfUser, of: ['long jobs'] },
})

/** A refused job is tried again after this time, or later if many wait, so that trying costs at most ten runs per second. */
const [retryMs, retryMsPerWaiting] = [2_000, 100]

/** Admits jobs as long as none of their limits is reached. State is in memory, per runner. */
export class Limits {
  readonly #running = new Map<string, number>()
  /** When each waiting job will have tried again, unless it is gone. In milliseconds of `performance.now()`. */
  readonly #waiting = new Map<string, number>()

  /** Counts the job with this key against its limits and returns the function that ends that; a delay if a limit is reached. */
  enter(key: string, limits: JobLimits): { readonly leave: () => void } | { readonly retryMs: number } {
    const names = Object.keys(limits)
    if (names.some((name) => this.#isReached(name, limits))) {
      const now = performance.now()
      for (const [each, by] of this.#waiting) if (by < now) this.#waiting.delete(each)
      this.#waiting.set(key, now)
      const delay = Math.max(retryMs, this.#waiting.size * retryMsPerWaiting)
      this.#waiting.set(key, now + 2 * delay)
      return { retryMs: delay }
    }
    this.#waiting.delete(key)
    for (const name of names) this.#running.set(name, this.#count(name) + 1)
    return {
      leave: () => {
        for (const name of names) {
          const left = this.#count(name) - 1
          if (left === 0) this.#running.delete(name)
          else this.#running.set(name, left)
        }
      },
    }
  }

  #isReached(name: string, limits: JobLimits): boolean {
    const limit = limits[name]!
    if (typeof limit === 'number') return this.#count(name) >= limit
    const free = limit.of.map((other) => (limits[other] as number) - this.#count(other))
    return this.#count(name) >= Math.min(limit.atMost, ...free)
  }

  #count(name: string): number {
    return this.#running.get(name) ?? 0
  }
}
