import type { BodyPace } from './pace.ts'

/** How much of a body is read before the answer is 413. */
export type BodyLimits = {
  /** JSON, a form, or all text fields of a multipart form together: what is held in memory. */
  bytes: number
  /** One file in the named field; 0 takes no file there. */
  fileBytes: (fieldName: string) => number
  /** Files in one request; 0 for nobody known, from whom none is taken (401). */
  files: number
  /** How slowly it may come: `usualPace` unless said. */
  pace?: BodyPace
}

const mebibyte = 1024 * 1024

/** Enough for any record: the longest text is a description of a million characters. */
export const usualLimits: BodyLimits = { bytes: 8 * mebibyte, fileBytes: () => 100 * mebibyte, files: 10 }
