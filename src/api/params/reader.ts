import type { RawValue } from './raw.ts'
import type { Violation } from './violation.ts'

/** State shared while one parameter tree is converted. */
export type Reading = {
  /** Violations, in the order of the declaration. */
  readonly violations: string[]
  /** Whether null clears a value (PUT, PATCH) instead of counting as absent. */
  readonly clears: boolean
  /** Whether the request writes: an empty list is then a value and not an empty filter. */
  readonly writes: boolean
  /** Whether the request only reads (GET): optional texts and lists are then filters, and empty ones count as absent. */
  readonly reads: boolean
}

/** Converts a raw value that is neither null nor undefined. `path` is its name in violations. */
export type Reader = (raw: RawValue, reading: Reading, path: string) => unknown | Violation

/** Maximum violations per request: a list with a million invalid elements gives the same response as one with a hundred. */
const maximumViolations = 100

/** Whether the maximum is reached, so that parsing can stop. */
export const isFull = (reading: Reading): boolean => reading.violations.length >= maximumViolations

export function addViolation(reading: Reading, path: string, violation: Violation): void {
  if (violation.text !== '' && !isFull(reading)) reading.violations.push(`${path} ${violation.text}`)
}
