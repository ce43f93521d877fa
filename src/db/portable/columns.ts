import { boolean, date, double, integer, json, type Kind, listOf, nullable, text, timestamp } from '../row.ts'

/** A column whose value is in the archive as it is in the table. */
export type ValueColumn = {
  readonly is: 'value'
  /** For reading. */
  readonly kind: Kind<any>
  /** Type in PostgreSQL, for writing. */
  readonly type: string
  /** Whether a value of an archive, which may be hostile, can be stored. Null is checked before. */
  readonly accepts: (value: unknown) => boolean
  readonly nullable: boolean
  /** Value of a record that lacks it; without it, such a record is refused, or null if the column is nullable. */
  readonly fallback?: unknown
  /** Expression that reads it, for columns that are read from elsewhere. Default: the column of the table `t`. */
  readonly reads?: string
  /** It is in the archive, but not written: for `adopt` and `amend`. */
  readonly informs?: true
  /** It is not in the archive: the importer computes it, as the digest of a file. */
  readonly supplied?: true
}

/** A column with the id of the project itself, or another project or none: the archive has whether it is the project itself. */
export type SelfColumn = { readonly is: 'self' }

/** A column with a user: the archive has the user name. */
export type PersonColumn = {
  readonly is: 'person'
  readonly nullable: boolean
  /** What becomes of a user who is not in this installation: the importer takes their place, null does, or the row is left out. */
  readonly otherwise: 'importer' | 'null' | 'skip'
}

/** A column that refers to a row of another relation: the archive has the line of its record, from 1. */
export type ReferenceColumn = {
  readonly is: 'reference'
  readonly to: string
  readonly nullable: boolean
  /** A row that refers to what is not exported is left out; otherwise it has null there. */
  readonly otherwise: 'null' | 'skip'
}

/** `column` is the name of the column if the archive has another one. */
export type Column = (ValueColumn | PersonColumn | ReferenceColumn | SelfColumn) & { readonly column?: string }

const value = (kind: Kind<any>, type: string, accepts: (value: unknown) => boolean): ValueColumn => ({
  is: 'value',
  kind,
  type,
  accepts,
  nullable: false,
})

/** Counting characters of a long text is expensive, and seldom needed. */
const isShort = (given: string, maxLength: number): boolean =>
  given.length <= maxLength || (given.length <= 2 * maxLength && [...given].length <= maxLength)

const isWellFormed = (given: string): boolean => !given.includes('\0') && given.isWellFormed()

/** Text with a maximum length in characters. */
export const words = (maxLength: number, pattern?: RegExp): ValueColumn =>
  value(
    text,
    'text',
    (given) =>
      typeof given === 'string' &&
      isShort(given, maxLength) &&
      isWellFormed(given) &&
      (pattern === undefined || pattern.test(given)),
  )

const largest = 2 ** 31 - 1

export const whole = (minimum = 0, maximum = largest): ValueColumn =>
  value(
    integer,
    'bigint',
    (given) => Number.isSafeInteger(given) && (given as number) >= minimum && (given as number) <= maximum,
  )

/** A number that counts within a project or group. It leaves room for the next ones. */
export const ownNumber: ValueColumn = whole(1, 1_000_000_000)

export const flag: ValueColumn = value(boolean, 'boolean', (given) => typeof given === 'boolean')

const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const moment: ValueColumn = value(
  timestamp,
  'timestamptz',
  (given) => typeof given === 'string' && momentPattern.test(given) && isRealTime(given),
)
export const day: ValueColumn = value(
  date,
  'date',
  (given) => typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) && isRealTime(`${given}T00:00:00.000Z`),
)

/** PostgreSQL refuses the year 0, and JavaScript turns 30 February into March. */
function isRealTime(iso: string): boolean {
  const time = new Date(iso)
  return !iso.startsWith('0000') && !Number.isNaN(time.getTime()) && time.toISOString() === iso
}

/** Any number. */
export const decimal: ValueColumn = value(double, 'double precision', (given) => Number.isFinite(given))

/** One of the given words. */
export const choice = (...values: readonly string[]): ValueColumn =>
  value(text, 'text', (given) => typeof given === 'string' && values.includes(given))

/** One of the given numbers. */
export const level = (...values: readonly number[]): ValueColumn =>
  value(integer, 'bigint', (given) => typeof given === 'number' && values.includes(given))

/** A list of values without null. */
export const wordList = (each: ValueColumn, maxItems: number): ValueColumn =>
  value(
    listOf(each.kind),
    `${each.type}[]`,
    (given) => Array.isArray(given) && given.length <= maxItems && given.every(each.accepts),
  )

/** A JSON value that `accepts` knows, below a limit of depth and size. */
export const structure = (accepts: (value: unknown) => boolean): ValueColumn =>
  value(json(), 'jsonb', (given) => isBounded(given, maxDepth, { left: maxValues }) && accepts(given))

const maxDepth = 8
const maxValues = 10_000

function isBounded(given: unknown, depth: number, budget: { left: number }): boolean {
  if (budget.left-- <= 0) return false
  if (typeof given === 'string') return given.length <= 1_000_000 && isWellFormed(given)
  if (typeof given === 'number') return Number.isFinite(given)
  if (given === null || typeof given !== 'object') return true
  if (depth === 0) return false
  return Object.entries(given).every(([key, each]) => isWellFormed(key) && isBounded(each, depth - 1, budget))
}

/** Hexadecimal digits. */
export const hex = (digits: number): ValueColumn => words(digits, new RegExp(`^[0-9a-f]{${digits}}$`))

/** An object id of git. */
export const oid: ValueColumn = hex(40)

/** Also null; the fallback of what a record lacks. */
export function orNull<C extends Column>(column: C): C {
  return column.is === 'value'
    ? { ...column, kind: nullable(column.kind), nullable: true }
    : { ...column, nullable: true }
}

/** A record that lacks it has this value. */
export const orElse = (column: ValueColumn, fallback: unknown): ValueColumn => ({ ...column, fallback })

/** It is read by an expression. */
export const readAs = (expression: string, column: ValueColumn): ValueColumn => ({ ...column, reads: expression })

/** It is read by an expression, and not written. */
export const informs = (expression: string, column: ValueColumn): ValueColumn => ({
  ...readAs(expression, column),
  informs: true,
})

/** It is read and written, but not in the archive. */
export const supplied = (column: ValueColumn): ValueColumn => ({ ...column, supplied: true })

/** Whether the column has the id of the project itself. */
export const self: SelfColumn = { is: 'self' }

/** The user who wrote or did something. The importer takes the place of users who are not found. */
export const author: PersonColumn = { is: 'person', nullable: false, otherwise: 'importer' }

/** A user whose part no one else can take: the row is left out without them. */
export const participant: PersonColumn = { is: 'person', nullable: false, otherwise: 'skip' }

/** A user who may be missing. */
export const person: PersonColumn = { is: 'person', nullable: true, otherwise: 'null' }

/** The row belongs to a row of another relation. */
export const partOf = (to: string): ReferenceColumn => ({ is: 'reference', to, nullable: false, otherwise: 'skip' })

/** The user, or none; without a user who is not found the row has no meaning. */
export const participantOrNull: PersonColumn = { ...participant, nullable: true }

/** The row may refer to a row of another relation; without a row that is not exported it has no meaning. */
export const partOfOrNull = (to: string): ReferenceColumn => ({ ...partOf(to), nullable: true })

/** The row refers to a row of another relation, or to none. */
export const refersTo = (to: string): ReferenceColumn => ({ is: 'reference', to, nullable: true, otherwise: 'null' })
