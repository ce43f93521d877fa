import pg from 'pg'

const codes = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlock: '40P01',
}

/** The unique constraint or index that rejected the row; undefined for any other error. */
export const violatedUnique = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code === codes.uniqueViolation ? error.constraint : undefined

const passing = new Set([codes.serializationFailure, codes.deadlock, codes.foreignKeyViolation])

/** Whether the transaction may succeed if it runs again. A referenced row may have just been deleted, which the next run sees. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && passing.has(error.code ?? '')
