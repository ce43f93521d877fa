import { vi } from 'vitest'

/**
 * How long a test waits for an event, in milliseconds. No test asserts it: it is generous, so that a busy machine does not fail
 * a test, and shorter than the timeout of a test, so that the failure names the event that did not come.
 */
export const waitMs = 60_000

/** Waits until `check` no longer throws, and returns its result. */
export const eventually = <T>(check: () => T | Promise<T>, interval = 20): Promise<T> =>
  vi.waitFor(check, { timeout: waitMs, interval })
