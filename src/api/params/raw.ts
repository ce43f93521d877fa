import type { UploadedFile } from './uploaded-file.ts'

/** A value as it came off the wire, before anybody asked what it should be. */
export type RawValue = string | number | boolean | null | UploadedFile | RawValue[] | RawParams

/**
 * Parameter names → raw values. Trees made from query strings and forms have no prototype; those made by
 * `JSON.parse` have one, so whoever looks up a name the caller chose must ask for an own property.
 */
export type RawParams = { [name: string]: RawValue | undefined }

export const isRawHash = (raw: RawValue | undefined): raw is RawParams => {
  if (typeof raw !== 'object' || raw === null) return false
  const prototype = Object.getPrototypeOf(raw)
  // Arrays and uploaded files have prototypes of their own.
  return prototype === null || prototype === Object.prototype
}
