import { ParameterError } from '../../api/params/parameter-error.ts'
import { Failure, type FailureKind } from '../../kernel/failure.ts'
import { UnsupportedContentType } from './body/unsupported-content-type.ts'

/** An answer that is written as it stands. */
export type WireAnswer = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal with a wire of its own: OAuth's, the router's. Thrown only in this edge. */
export class WireFailure extends Error {
  override name = 'WireFailure'
  readonly answer: WireAnswer
  constructor(answer: WireAnswer) {
    super(`answers ${answer.status}`)
    this.answer = answer
  }
}

/** How each failure reads over HTTP. `prefixed` messages repeat the status, as in `404 Project Not Found`; `nested` ones hold an `error`. */
const wire: Record<
  FailureKind,
  { status: number; key: 'message' | 'error'; prefixed?: true; list?: true; nested?: true }
> = {
  unauthenticated: { status: 401, key: 'message', prefixed: true },
  forbidden: { status: 403, key: 'message', prefixed: true },
  not_found: { status: 404, key: 'message', prefixed: true },
  invalid: { status: 400, key: 'message' },
  conflict: { status: 409, key: 'message' },
  // Compat: the documents say so of edits of users.
  conflict_of_edit: { status: 404, key: 'message' },
  too_large: { status: 413, key: 'message', prefixed: true },
  not_allowed: { status: 405, key: 'message', prefixed: true },
  unprocessable: { status: 422, key: 'error' },
  precondition_failed: { status: 412, key: 'message', prefixed: true },
  paging_refused: { status: 405, key: 'error' },
  limit_reached: { status: 403, key: 'error', list: true },
  rate_limited: { status: 429, key: 'message', nested: true },
  timed_out: { status: 408, key: 'message', prefixed: true },
  unavailable: { status: 503, key: 'message', prefixed: true },
}

const internal: WireAnswer = { status: 500, body: { message: '500 Internal Server Error' } }

/** The answer for anything thrown; a bug (status 500) says nothing more. */
export function answerFor(error: unknown): WireAnswer {
  if (error instanceof WireFailure) return error.answer
  if (error instanceof UnsupportedContentType) return { status: 415, body: { error: error.message } }
  if (error instanceof ParameterError) return { status: 400, body: { error: error.message } }
  if (!(error instanceof Failure)) return internal
  const { status, key, prefixed, list, nested } = wire[error.kind]
  if (error.fields) return { status, body: { message: error.fields } }
  const text = prefixed ? `${status} ${error.message}` : error.message
  return {
    status,
    body: {
      [key]: list ? [text] : nested ? { error: text } : text,
      ...(error.code !== undefined && { error_code: error.code }),
    },
  }
}

export const unknownRoute = (): WireFailure => new WireFailure({ status: 404, body: { error: '404 Not Found' } })

/** A path whose percent signs lead nowhere. */
export const malformedPath = (): WireFailure => new WireFailure({ status: 400, body: { error: 'path is invalid' } })

export const verbNotOffered = (allow: readonly string[]): WireFailure =>
  new WireFailure({ status: 405, body: { error: '405 Not Allowed' }, headers: { allow: allow.join(', ') } })

/** An address of the version before. */
export const oldVersion = (): WireFailure =>
  new WireFailure({ status: 410, body: { error: 'API V3 is no longer supported. Use API V4 instead.' } })
