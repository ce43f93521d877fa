import type { UploadedFile } from './uploaded-file.ts'

/** An unparsed value of a request, before validation. */
export type RawValue = string | number | boolean | null | UploadedFile | RawValue[] | RawParams

/**
 * Parameter names → raw values. Trees made from query strings and forms have no prototype; those made by
 * `JSON.parse` have one, so look up names chosen by the caller as own properties only.
 */
export type RawParams = { [name: string]: RawValue | undefined }

export const isRawHash = (raw: RawValue | undefined): raw is RawParams => {
  if (typeof raw !== 'object' || raw === null) return false
  const prototype = Object.getPrototypeOf(raw)
  // Arrays and uploaded files have prototypes of their own.
  return prototype === null || prototype === Object.prototype
}
