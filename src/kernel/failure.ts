/** Kinds of failure the domain knows. Each edge owns the one table from kind to its wire. */
export type FailureKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  /** The input is well-formed but breaks a rule. */
  | 'invalid'
  | 'conflict'
  /** As `conflict`, where the documents have it read as something missing. */
  | 'conflict_of_edit'
  | 'too_large'
  /** The subject is in a state in which this cannot be done now. */
  | 'not_allowed'
  /** What is asked for cannot be made of what is there. */
  | 'not_acceptable'
  | 'unprocessable'
  | 'precondition_failed'
  /** Another way of paging is needed. */
  | 'paging_refused'
  /** The caller has reached a maximum count. */
  | 'limit_reached'
  | 'rate_limited'
  /** The caller took too long to say what is wanted. */
  | 'timed_out'
  | 'unavailable'
  /** There is no room left for what is to be kept. */
  | 'storage_full'

/** Field name → complaints, each a sentence without its subject: `{ path: ['has already been taken'] }`. */
export type FieldComplaints = Readonly<Record<string, readonly string[]>>

/** A failure the caller is meant to see. Anything else that is thrown is a bug and becomes a 500. */
export class Failure extends Error {
  override name = 'Failure'
  readonly kind: FailureKind
  /** Set when the complaints are about named fields. */
  readonly fields: FieldComplaints | undefined
  /** A word by which clients tell cases apart: `error_code`. */
  readonly code: string | undefined
  /** The message is one of a list of complaints about the whole: `["…"]`. */
  readonly listed: boolean
  /** When the caller may try again, where that is known. */
  readonly retryAfterSeconds: number | undefined

  /** `message` is safe to show to the caller. */
  constructor(
    kind: FailureKind,
    message: string,
    options: ErrorOptions & { fields?: FieldComplaints; code?: string; listed?: true; retryAfterSeconds?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.fields = options.fields
    this.code = options.code
    this.listed = options.listed === true
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** `what` is the noun as the wire spells it: `notFound('Project')` reads `404 Project Not Found`. */
export const notFound = (what: string): Failure => new Failure('not_found', `${what} Not Found`)

/** A row that was looked up by number and is not there: `404 Not found`, with the small f clients know. */
export const rowNotFound = (): Failure => new Failure('not_found', 'Not found')

export const unauthenticated = (): Failure => new Failure('unauthenticated', 'Unauthorized')

/** `reason` follows `403 Forbidden - `. */
export const forbidden = (reason?: string): Failure =>
  new Failure('forbidden', reason === undefined ? 'Forbidden' : `Forbidden - ${reason}`)

export const invalid = (message: string): Failure => new Failure('invalid', message)

/** A record that breaks rules of its fields. */
export const invalidFields = (fields: FieldComplaints): Failure =>
  new Failure(
    'invalid',
    Object.entries(fields)
      .flatMap(([name, complaints]) => complaints.map((complaint) => `${name} ${complaint}`))
      .join(', '),
    { fields },
  )

export const conflict = (message: string): Failure => new Failure('conflict', message)
