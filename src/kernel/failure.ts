/** Kinds of failure the domain knows. Each transport maps them to its protocol in one table. */
export type FailureKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  /** The input is well-formed but breaks a rule. */
  | 'invalid'
  | 'conflict'
  /** Like `conflict`, but the specification has it look like a missing resource. */
  | 'conflict_of_edit'
  | 'too_large'
  /** The state of the subject does not permit the action. */
  | 'not_allowed'
  /** The request cannot be satisfied from what is stored. */
  | 'not_acceptable'
  | 'unprocessable'
  | 'precondition_failed'
  /** The endpoint requires another kind of pagination. */
  | 'paging_refused'
  /** The caller has reached a maximum count. */
  | 'limit_reached'
  | 'rate_limited'
  /** The caller took too long to send the request. */
  | 'timed_out'
  | 'unavailable'
  /** There is no space left to store it. */
  | 'storage_full'

/** Field name → violations, each a sentence without its subject: `{ path: ['has already been taken'] }`. */
export type FieldViolations = Readonly<Record<string, readonly string[]>>

/** A failure the caller may see. Any other error is a bug and becomes a 500. */
export class Failure extends Error {
  override name = 'Failure'
  readonly kind: FailureKind
  /** Set if the violations belong to named fields. */
  readonly fields: FieldViolations | undefined
  /** Machine-readable code, sent as `error_code`. */
  readonly code: string | undefined
  /** The message is sent as a list: `["…"]`. */
  readonly listed: boolean
  /** When the caller may retry, if known. */
  readonly retryAfterSeconds: number | undefined

  /** `message` is safe to show to the caller. */
  constructor(
    kind: FailureKind,
    message: string,
    options: ErrorOptions & { fields?: FieldViolations; code?: string; listed?: true; retryAfterSeconds?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.fields = options.fields
    this.code = options.code
    this.listed = options.listed === true
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** `what` is the noun as in the response: `notFound('Project')` gives `404 Project Not Found`. */
export const notFound = (what: string): Failure => new Failure('not_found', `${what} Not Found`)

/** A row looked up by number does not exist: `404 Not found`, with a lower-case f as clients expect. */
export const rowNotFound = (): Failure => new Failure('not_found', 'Not found')

export const unauthenticated = (): Failure => new Failure('unauthenticated', 'Unauthorized')

/** `reason` is appended to `403 Forbidden - `. */
export const forbidden = (reason?: string): Failure =>
  new Failure('forbidden', reason === undefined ? 'Forbidden' : `Forbidden - ${reason}`)

export const invalid = (message: string): Failure => new Failure('invalid', message)

/** A record violates rules of its fields. */
export const invalidFields = (fields: FieldViolations): Failure =>
  new Failure(
    'invalid',
    Object.entries(fields)
      .flatMap(([name, violations]) => violations.map((violation) => `${name} ${violation}`))
      .join(', '),
    { fields },
  )

export const conflict = (message: string): Failure => new Failure('conflict', message)
