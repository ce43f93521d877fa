import { setTimeout } from 'node:timers/promises'

/**
 * How long a test waits for an event, in milliseconds. No test asserts it: it is generous, so that a busy machine does not
 * fail a test, and shorter than the test timeout, so that the failure names the missing event.
 */
export const waitMs = 250_000

/**
 * Runs `attempt` with a short limit, then with longer ones until it passes, and fails with its last error. For tests that
 * must act within a limit of the service: a busy machine needs a longer one, and a fault of the service fails with all of
 * them.
 */
export async function withEnoughTime<T>(
  limitsMs: readonly number[],
  attempt: (limitMs: number) => Promise<T>,
): Promise<T> {
  const [limitMs, ...longer] = limitsMs
  try {
    return await attempt(limitMs!)
  } catch (error) {
    if (longer.length === 0) throw error
    return withEnoughTime(longer, attempt)
  }
}

/**
 * Waits until `check` no longer throws, and returns its result. Fails with its error when that has been the same for `waitMs`: while the
 * error changes, such as the number of things that are left, a busy machine makes progress.
 */
export async function eventually<T>(check: () => T | Promise<T>, interval = 20): Promise<T> {
  let [last, since] = ['', performance.now()]
  for (;;) {
    try {
      return await check()
    } catch (error) {
      const now = String(error)
      if (now !== last) [last, since] = [now, performance.now()]
      else if (performance.now() - since > waitMs) throw error
    }
    await setTimeout(interval)
  }
}
