/** Kinds of failure the domain knows. Each transport maps them to its protocol in one table. */
export type FailureKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  /** The input is well-formed but breaks a rule. */
  | 'invalid'
  | 'conflict'
  /** An edit of a user breaks a rule, or would give them the name or address of another. */
  | 'edit_refused'
  | 'too_large'
  /** The subject is in a state in which this cannot be done now. */
  | 'wrong_state'
  /** The input is valid by itself, but not for this subject or caller. */
  | 'inadmissible'
  /** What is asked for cannot be made of what is there. */
  | 'not_acceptable'
  | 'unprocessable'
  | 'precondition_failed'
  /** What was requested is not available for this subject; the message names another way, if there is one. */
  | 'unsupported'
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

/** The action that violations of fields prevented, for messages that must name it. */
export type RefusedAction =
  | 'save group'
  | 'transfer project'
  | 'create milestone'
  | 'update milestone'
  | 'save comment'
  | 'save note'
  | 'award emoji'

type Details = ErrorOptions & {
  fields?: FieldViolations
  action?: RefusedAction
  code?: string
  ofWhole?: true
  retryAfterSeconds?: number
}

/** A failure the caller may see. Any other error is a bug and becomes a 500. */
export class Failure extends Error {
  override name = 'Failure'
  readonly kind: FailureKind
  /** Set if the violations belong to named fields. */
  readonly fields: FieldViolations | undefined
  /** Set if the message must name the action that the violations prevented. */
  readonly action: RefusedAction | undefined
  /** Machine-readable code, sent as `error_code`. */
  readonly code: string | undefined
  /** The message is a violation of the record as a whole; sent as a list, because there may be several. */
  readonly ofWhole: boolean
  /** When the caller may retry, if known. */
  readonly retryAfterSeconds: number | undefined

  /** `message` is safe to show to the caller. */
  constructor(kind: FailureKind, message: string, details: Details = {}) {
    super(message, details)
    this.kind = kind
    this.fields = details.fields
    this.action = details.action
    this.code = details.code
    this.ofWhole = details.ofWhole === true
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** `what` is the noun as in the response: `notFound('Project')` gives `404 Project Not Found`. */
export const notFound = (what: string): Failure => new Failure('not_found', `${what} Not Found`)

/** A row looked up by number does not exist: `404 Not found`, with a lower-case f as clients expect. */
export const rowNotFound = (): Failure => new Failure('not_found', 'Not found')

export const unauthenticated = (): Failure => new Failure('unauthenticated', 'Unauthorized')

/** A page of records that is not made in memory. */
export const pageTooLarge = (): Failure =>
  new Failure('too_large', 'The records are too large for one list: use a lower per_page')

export const isTooLarge = (error: unknown): boolean => error instanceof Failure && error.kind === 'too_large'

/** `reason` is appended to `403 Forbidden - `. */
export const forbidden = (reason?: string): Failure =>
  new Failure('forbidden', reason === undefined ? 'Forbidden' : `Forbidden - ${reason}`)

/** Why a caller may not do something to what they can see: anonymous callers could sign in. */
export const refused = (caller: object | null): Failure => (caller ? forbidden() : unauthenticated())

export const invalid = (message: string): Failure => new Failure('invalid', message)

/** The caller has made too many calls. The response does not say when the next one is allowed. */
export const tooManyRequests = (): Failure =>
  new Failure('rate_limited', 'This endpoint has been requested too many times. Try again later.')

/** The input is valid, but the state of the subject or the permissions of the caller exclude it. */
export const inadmissible = (reason: string): Failure => new Failure('inadmissible', reason)

/** A record violates rules of its fields. `action` is the prevented action, if the message must name it. */
export const invalidFields = (fields: FieldViolations, action?: RefusedAction): Failure =>
  new Failure(
    'invalid',
    Object.entries(fields)
      .flatMap(([name, violations]) => violations.map((violation) => `${name} ${violation}`))
      .join(', '),
    { fields, ...(action && { action }) },
  )

export const conflict = (message: string): Failure => new Failure('conflict', message)
