import type { Logger } from 'pino'
import { ParameterError } from '../../api/params/parameter-error.ts'
import { damaged, damageIn, killed, wasKilled } from '../../git/runner/damage.ts'
import { Failure, type FailureKind, type RefusedAction } from '../../kernel/failure.ts'
import { isDiskFull } from '../../kernel/full-disk.ts'
import { UnsupportedContent } from './body/unsupported-content.ts'
import { rubyHash } from './ruby-hash.ts'

/** A complete response, sent as it is. */
export type WireAnswer = {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal with its own wire format, such as that of OAuth, of the registry or of the router. Thrown only in this transport. */
export class WireFailure extends Error {
  override name = 'WireFailure'
  readonly answer: WireAnswer
  constructor(answer: WireAnswer) {
    super(`answers ${answer.status}`)
    this.answer = answer
  }
}

type Wire = {
  readonly status: number
  readonly key: 'message' | 'error'
  /** The text repeats the status: `404 Project Not Found`. */
  readonly prefixed?: true
  /** Stands before the message. */
  readonly before?: string
  /** Replaces the message. */
  readonly text?: string
  /** The text is the only one of a list. */
  readonly list?: true
  /** The text is the `error` of an object. */
  readonly nested?: true
}

/** How each kind of failure reads over HTTP. */
const wire: Record<FailureKind, Wire> = {
  unauthenticated: { status: 401, key: 'message', prefixed: true },
  forbidden: { status: 403, key: 'message', prefixed: true },
  not_found: { status: 404, key: 'message', prefixed: true },
  invalid: { status: 400, key: 'message' },
  conflict: { status: 409, key: 'message' },
  // Compat: edits of users respond as if something was missing.
  edit_refused: { status: 404, key: 'message' },
  too_large: { status: 413, key: 'message', prefixed: true },
  wrong_state: { status: 405, key: 'message', prefixed: true, text: 'Method Not Allowed' },
  inadmissible: { status: 400, key: 'message', prefixed: true, before: 'Bad request - ' },
  not_acceptable: { status: 406, key: 'message' },
  unprocessable: { status: 422, key: 'error' },
  precondition_failed: { status: 412, key: 'message', prefixed: true },
  unsupported: { status: 405, key: 'error' },
  limit_reached: { status: 403, key: 'error', list: true },
  rate_limited: { status: 429, key: 'message', nested: true },
  timed_out: { status: 408, key: 'message', prefixed: true },
  unavailable: { status: 503, key: 'message', prefixed: true },
  storage_full: { status: 507, key: 'message', prefixed: true },
}

type Refusal = { readonly status: number; readonly message: (hash: string) => string }

const failedTo = (action: RefusedAction): Refusal => ({
  status: 400,
  message: (hash) => `Failed to ${action} ${hash}`,
})

/** Compat: violations about the fields of these records come as one text. */
const refused: Record<RefusedAction, Refusal> = {
  'save group': failedTo('save group'),
  'transfer project': failedTo('transfer project'),
  'create milestone': failedTo('create milestone'),
  'update milestone': failedTo('update milestone'),
  'save note': failedTo('save note'),
  'save comment': { status: 400, message: (hash) => `400 (Bad request) "Note ${hash}" not given` },
  'award emoji': { status: 404, message: (hash) => `404 Award Emoji ${hash} Not Found` },
}

const internal: WireAnswer = { status: 500, body: { message: '500 Internal Server Error' } }

const isReadOnly = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.code === 'EROFS'

/** The failure to report for an error; undefined if the error is a bug. */
export function failureOf(error: unknown): Failure | undefined {
  if (damageIn(error)) return new Failure('unavailable', damaged, { cause: error })
  if (error instanceof Failure) return error
  if (isDiskFull(error) || isReadOnly(error))
    return new Failure('storage_full', 'Insufficient Storage', { cause: error })
  return wasKilled(error) ? new Failure('unavailable', killed, { cause: error, retryAfterSeconds: 10 }) : undefined
}

/** The response for any thrown error; for a bug, a 500 without details. */
export function answerFor(error: unknown): WireAnswer {
  if (error instanceof WireFailure) return error.answer
  if (error instanceof UnsupportedContent) return { status: 415, body: { error: error.message } }
  if (error instanceof ParameterError) return { status: 400, body: { error: error.message } }
  const failure = failureOf(error)
  if (!failure) return internal
  const { kind, message, fields, action, code, ofWhole, retryAfterSeconds } = failure
  if (fields && action)
    return { status: refused[action].status, body: { message: refused[action].message(rubyHash(fields)) } }
  const { status, key, prefixed, before = '', text: fixed, list, nested } = wire[kind]
  if (fields) return { status, body: { message: fields } }
  const text = `${prefixed ? `${status} ` : ''}${before}${fixed ?? message}`
  return {
    status,
    body: {
      [key]: list || ofWhole ? [text] : nested ? { error: text } : text,
      ...(code !== undefined && { error_code: code }),
    },
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
  }
}

/** Logs an error that the caller did not cause, once: bugs as errors; missing or full resources as warnings. */
export function logFault(log: Logger, error: unknown, facts: object, message: string): void {
  const { status } = answerFor(error)
  const damage = damageIn(error)
  if (status === 500 || damage) log.error({ err: damage ?? error, ...facts }, message)
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
