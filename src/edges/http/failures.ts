import type { Logger } from 'pino'
import { ParameterError } from '../../api/params/parameter-error.ts'
import { Failure, type FailureKind } from '../../kernel/failure.ts'
import { UnsupportedContentType } from './body/unsupported-content-type.ts'

/** A complete response, sent as it is. */
export type WireAnswer = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal with its own wire format, such as OAuth's or the router's. Thrown only in this transport. */
export class WireFailure extends Error {
  override name = 'WireFailure'
  readonly answer: WireAnswer
  constructor(answer: WireAnswer) {
    super(`answers ${answer.status}`)
    this.answer = answer
  }
}

/**
 * The HTTP response of each kind of failure. `prefixed` messages repeat the status, as in `404 Project Not Found`; `nested`
 * ones contain an `error`.
 */
const wire: Record<
  FailureKind,
  { status: number; key: 'message' | 'error'; prefixed?: true; list?: true; nested?: true }
> = {
  unauthenticated: { status: 401, key: 'message', prefixed: true },
  forbidden: { status: 403, key: 'message', prefixed: true },
  not_found: { status: 404, key: 'message', prefixed: true },
  invalid: { status: 400, key: 'message' },
  conflict: { status: 409, key: 'message' },
  // Compat: the specification has 404 for conflicting edits of users.
  conflict_of_edit: { status: 404, key: 'message' },
  too_large: { status: 413, key: 'message', prefixed: true },
  not_allowed: { status: 405, key: 'message', prefixed: true },
  not_acceptable: { status: 406, key: 'message' },
  unprocessable: { status: 422, key: 'error' },
  precondition_failed: { status: 412, key: 'message', prefixed: true },
  paging_refused: { status: 405, key: 'error' },
  limit_reached: { status: 403, key: 'error', list: true },
  rate_limited: { status: 429, key: 'message', nested: true },
  timed_out: { status: 408, key: 'message', prefixed: true },
  unavailable: { status: 503, key: 'message', prefixed: true },
  storage_full: { status: 507, key: 'message', prefixed: true },
}

const internal: WireAnswer = { status: 500, body: { message: '500 Internal Server Error' } }

/** Error codes of the system and of PostgreSQL for a full or read-only disk. */
const full = new Set(['ENOSPC', 'EDQUOT', 'EROFS', '53100'])

/** The failure to report for an error; undefined if the error is a bug. */
export const failureOf = (error: unknown): Failure | undefined =>
  error instanceof Failure
    ? error
    : full.has((error as NodeJS.ErrnoException | null)?.code ?? '')
      ? new Failure('storage_full', 'Insufficient Storage', { cause: error })
      : undefined

/** The response for any thrown error; for a bug, a 500 without details. */
export function answerFor(error: unknown): WireAnswer {
  if (error instanceof WireFailure) return error.answer
  if (error instanceof UnsupportedContentType) return { status: 415, body: { error: error.message } }
  if (error instanceof ParameterError) return { status: 400, body: { error: error.message } }
  const failure = failureOf(error)
  if (!failure) return internal
  const { kind, message, fields, code, listed, retryAfterSeconds } = failure
  const { status, key, prefixed, list, nested } = wire[kind]
  if (fields) return { status, body: { message: fields } }
  const text = prefixed ? `${status} ${message}` : message
  return {
    status,
    body: {
      [key]: list || listed ? [text] : nested ? { error: text } : text,
      ...(code !== undefined && { error_code: code }),
    },
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
  }
}

/** Logs an error that the caller did not cause, once: bugs as errors; missing or full resources as warnings. */
export function logFault(log: Logger, error: unknown, facts: object, message: string): void {
  const { status } = answerFor(error)
  if (status === 500) log.error({ err: error, ...facts }, message)
  else if (status > 500) log.warn({ err: (error as Error).cause ?? error, ...facts }, message)
}

export const unknownRoute = (): WireFailure => new WireFailure({ status: 404, body: { error: '404 Not Found' } })

/** The path has malformed percent-encoding. */
export const malformedPath = (): WireFailure => new WireFailure({ status: 400, body: { error: 'path is invalid' } })

export const verbNotOffered = (allow: readonly string[]): WireFailure =>
  new WireFailure({ status: 405, body: { error: '405 Not Allowed' }, headers: { allow: allow.join(', ') } })

/** A URL of API version 3. */
export const oldVersion = (): WireFailure =>
  new WireFailure({ status: 410, body: { error: 'API V3 is no longer supported. Use API V4 instead.' } })
