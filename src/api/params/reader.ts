import type { Complaint } from './complaint.ts'
import type { RawValue } from './raw.ts'

/** What one conversion of a whole tree shares. */
export type Reading = {
  /** Sentences about refused parameters, in the order of their declaration. */
  readonly complaints: string[]
  /** Whether null was given to clear something (PUT, PATCH) rather than left out. */
  readonly clears: boolean
  /** Whether the request writes, so that an empty list is a value rather than a filter left blank. */
  readonly writes: boolean
}

/** Turns a raw value that is neither null nor undefined into a typed one. `path` is its name in complaints. */
export type Reader = (raw: RawValue, reading: Reading, path: string) => unknown | Complaint

/** Complaints kept of one request: a list with a million bad elements is answered like one with a hundred. */
const maximumComplaints = 100

/** Nothing more that is said will be heard, so nothing more need be read. */
export const isFull = (reading: Reading): boolean => reading.complaints.length >= maximumComplaints

export function complain(reading: Reading, path: string, complaint: Complaint): void {
  if (complaint.text !== '' && !isFull(reading)) reading.complaints.push(`${path} ${complaint.text}`)
}
