import type { BodyPace } from './pace.ts'

/** Limits of a request body. Too many bytes give 413, too many items 400. */
export type BodyLimits = {
  /** JSON, a form, or all text and skipped parts of a multipart form together: the bytes held in memory. */
  bytes: number
  /** Maximum bytes of all files in the named field; 0 rejects files there. */
  fileBytes: (fieldName: string) => number
  /** Maximum files in one request; 0 for an anonymous caller (401). */
  files: number
  /** Fields of a form, or parts of a multipart form. Default `maximumFields`. */
  fields?: number
  /** Values in JSON, including those in lists and objects. Default `maximumValues`. */
  values?: number
  /** Minimum speed. Default `usualPace`. */
  pace?: BodyPace
}

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Maximum fields of one form: a commit of a thousand files, sent as a form, has five thousand. */
export const maximumFields = 10_000

/**
 * Maximum values of one JSON body, which take about 25 ms to parse and check. A commit of ten thousand files has forty
 * thousand.
 */
export const maximumValues = 50_000

/** Maximum nesting of objects and lists in JSON. No declared parameter has more than five levels. */
export const maximumDepth = 32

/**
 * Enough for any record: the longest text is a description of a million characters, and pictures are smaller. Files are written to disk also
 * where an endpoint takes none.
 */
export const usualLimits: BodyLimits = { bytes: 8 * mebibyte, fileBytes: () => 8 * mebibyte, files: 10 }

/** For an unauthenticated caller: enough for a token and a few parameters, and cheap to parse. */
export const anonymousLimits: BodyLimits = {
  bytes: 256 * kibibyte,
  fileBytes: () => 0,
  files: 0,
  fields: 1_000,
  values: 5_000,
}
