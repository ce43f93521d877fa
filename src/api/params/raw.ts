import type { UploadedFile } from './uploaded-file.ts'

/** An unparsed value of a request, before validation. */
export type RawValue = string | number | boolean | null | UploadedFile | RawValue[] | RawParams

/**
 * Parameter names → raw values. Trees from query strings and forms have no prototype; those from `JSON.parse` have one, so look
 * up names that the client chooses only as own properties.
 */
export type RawParams = { [name: string]: RawValue | undefined }

export const isRawHash = (raw: RawValue | undefined): raw is RawParams => {
  if (typeof raw !== 'object' || raw === null) return false
  const prototype = Object.getPrototypeOf(raw)
  // Excludes arrays and uploaded files, which have other prototypes.
  return prototype === null || prototype === Object.prototype
}
