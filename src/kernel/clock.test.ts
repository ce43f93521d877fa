import { afterEach, expect, test, vi } from 'vitest'
import { ageOf, longAgo } from './clock.ts'

const hour = 3_600_000
const second = 1000

afterEach(() => void vi.useRealTimers())

/** Changes the wall clock, as a time server does; monotonic time is not affected. */
function jump(ms: number): { before: number } {
  const before = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: before + ms })
  return { before }
}

test('a new file is not old after the clock is set forward', () => {
  const { before } = jump(5 * hour)
  expect(ageOf(before)).toBeLessThan(hour)
  expect(longAgo(hour).getTime()).toBeLessThan(before)
})

test('the age of a file is correct after the clock is set back', () => {
  const { before } = jump(-5 * hour)
  expect(Math.abs(ageOf(before - second) - second)).toBeLessThan(hour)
  expect(ageOf(before - 2 * hour)).toBeGreaterThan(hour)
})
