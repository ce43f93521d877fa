import type { Complaint } from './complaint.ts'
import type { RawValue } from './raw.ts'

/** State shared while one parameter tree is converted. */
export type Reading = {
  /** Violations, in the order of the declaration. */
  readonly complaints: string[]
  /** Whether null clears a value (PUT, PATCH) instead of counting as absent. */
  readonly clears: boolean
  /** Whether the request writes: an empty list is then a value and not an empty filter. */
  readonly writes: boolean
}

/** Converts a raw value that is neither null nor undefined. `path` is its name in violations. */
export type Reader = (raw: RawValue, reading: Reading, path: string) => unknown | Complaint

/** Maximum violations per request: a list with a million invalid elements gives the same response as one with a hundred. */
const maximumComplaints = 100

/** Whether the maximum is reached, so that parsing can stop. */
export const isFull = (reading: Reading): boolean => reading.complaints.length >= maximumComplaints

export function complain(reading: Reading, path: string, complaint: Complaint): void {
  if (complaint.text !== '' && !isFull(reading)) reading.complaints.push(`${path} ${complaint.text}`)
}
