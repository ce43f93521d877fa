import type { BodyPace } from './pace.ts'

/** How much of a body is read before the answer is 413, and how much it may say before it is 400. */
export type BodyLimits = {
  /** JSON, a form, or all text and skipped parts of a multipart form together: what is held in memory. */
  bytes: number
  /** One file in the named field; 0 takes no file there. */
  fileBytes: (fieldName: string) => number
  /** Files in one request; 0 for an anonymous caller, from whom none is taken (401). */
  files: number
  /** Fields of a form, or parts of a multipart form: `maximumFields` unless said. */
  fields?: number
  /** Values in JSON, those in lists and objects included: `maximumValues` unless said. */
  values?: number
  /** How slowly it may come: `usualPace` unless said. */
  pace?: BodyPace
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Fields one form may have: a commit of a thousand files, sent as a form, has five thousand. */
export const maximumFields = 10_000

/** Values one JSON body may have, which take some 25 ms to parse and check. A commit of ten thousand files has forty thousand. */
export const maximumValues = 50_000

/** Objects and lists within one another in JSON. No declared parameter has more than five. */
export const maximumDepth = 32

/** Enough for any record: the longest text is a description of a million characters. */
export const usualLimits: BodyLimits = { bytes: 8 * mebibyte, fileBytes: () => 100 * mebibyte, files: 10 }

/**
 * For a caller that is not known when the body is read: enough for a token and the parameters beside it, and cheap to
 * parse for us.
 */
export const anonymousLimits: BodyLimits = {
  bytes: 256 * kibibyte,
  fileBytes: () => 0,
  files: 0,
  fields: 1_000,
  values: 5_000,
}
