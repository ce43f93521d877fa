import pg from 'pg'

const codes = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlock: '40P01',
}

/** The name of the unique constraint or index that refused the row, when that is what happened. */
export const violatedUnique = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code === codes.uniqueViolation ? error.constraint : undefined

const passing = new Set([codes.serializationFailure, codes.deadlock, codes.foreignKeyViolation])

/** True when the same transaction may succeed if it is run again. A row that it names may just have gone: now it sees that. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && passing.has(error.code ?? '')
