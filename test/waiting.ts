import { setTimeout } from 'node:timers/promises'
import { vi } from 'vitest'

/**
 * How long a test waits for an event, in milliseconds. No test asserts it: it is generous, so that a busy machine does not
 * fail a test, and shorter than the test timeout, so that the failure names the missing event.
 */
export const waitMs = 100_000

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

/** Waits until `check` no longer throws, and returns its result. */
export const eventually = <T>(check: () => T | Promise<T>, interval = 20): Promise<T> =>
  vi.waitFor(check, { timeout: waitMs, interval })

/**
 * Waits until `left` counts none, however long that takes, and fails if their number has not changed for `waitMs`. For many
 * things, of which a busy machine does only a few in that time.
 */
export async function eventuallyNoneLeft(left: () => number | Promise<number>, interval = 20): Promise<void> {
  let [last, since] = [Number.NaN, performance.now()]
  for (;;) {
    const now = await left()
    if (now === 0) return
    if (now !== last) [last, since] = [now, performance.now()]
    else if (performance.now() - since > waitMs) throw new Error(`${now} are left, the same for ${waitMs} ms`)
    await setTimeout(interval)
  }
}
