import type { Headers } from '../http/answer.ts'
import { WireFailure } from '../http/failures.ts'

/** Codes of the OCI distribution specification with their status and message. */
const codes = {
  BLOB_UNKNOWN: [404, 'blob unknown to registry'],
  BLOB_UPLOAD_INVALID: [400, 'blob upload invalid'],
  BLOB_UPLOAD_UNKNOWN: [404, 'blob upload unknown to registry'],
  DIGEST_INVALID: [400, 'provided digest did not match uploaded content'],
  MANIFEST_BLOB_UNKNOWN: [404, 'manifest references a manifest or blob unknown to registry'],
  MANIFEST_INVALID: [400, 'manifest invalid'],
  MANIFEST_UNKNOWN: [404, 'manifest unknown to registry'],
  NAME_INVALID: [400, 'invalid repository name'],
  NAME_UNKNOWN: [404, 'repository name not known to registry'],
  SIZE_INVALID: [400, 'provided length did not match content length'],
  UNAUTHORIZED: [401, 'authentication required'],
  DENIED: [403, 'requested access to the resource is denied'],
  UNSUPPORTED: [405, 'the operation is unsupported'],
  TOOMANYREQUESTS: [429, 'too many requests'],
  // Not of the specification.
  TAG_INVALID: [400, 'invalid tag'],
  PAGINATION_NUMBER_INVALID: [400, 'invalid number of results requested'],
  RANGE_INVALID: [416, 'invalid content range'],
  UNAVAILABLE: [503, 'service unavailable'],
  UNKNOWN: [500, 'unknown error'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>

export type Code = keyof typeof codes

type More = {
  readonly status?: number
  readonly message?: string
  readonly detail?: unknown
  readonly headers?: Headers
}

/** Every response of the registry has it; clients recognise a registry by it. */
export const versionHeader = { 'docker-distribution-api-version': 'registry/2.0' } as const

/** A refusal of a registry request. `details` has one entry for each error of the response. */
export class RegistryError extends WireFailure {
  override name = 'RegistryError'
  constructor(code: Code, { details, ...more }: More & { readonly details?: readonly unknown[] } = {}) {
    const [usual, text] = codes[code]
    const { status = usual, message = text } = more
    const errors = (details ?? [more.detail]).map((detail) => ({
      code,
      message,
      ...(detail !== undefined && { detail }),
    }))
    const type = { 'content-type': 'application/json; charset=utf-8' }
    super({ status, body: { errors }, headers: { ...versionHeader, ...type, ...more.headers } })
  }
}
