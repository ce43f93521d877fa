import pg from 'pg'
import { Failure } from '../kernel/failure.ts'

const codes = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlock: '40P01',
  failedTransaction: '25P02',
}

/** The unique constraint or index that rejected the row; undefined for any other error. */
export const violatedUnique = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError && error.code === codes.uniqueViolation ? error.constraint : undefined

/** Whether the server ignored the statement because an earlier one of the transaction failed. */
export const isConsequence = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === codes.failedTransaction

/** Whether the row names another one that does not exist: it has been deleted meanwhile. */
export const isReferenceGone = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === codes.foreignKeyViolation

/**
 * What the caller sees when a transaction failed in each attempt, always because of others that ran at the same time. If what it
 * refers to was looked up before the transaction and is gone, each attempt fails.
 */
export const asContended = (error: unknown): Failure =>
  isReferenceGone(error)
    ? new Failure('not_found', 'Not found', { cause: error })
    : new Failure('unavailable', 'The same records are being changed by others. Try again.', {
        cause: error,
        retryAfterSeconds: 1,
      })

/** Whether the server ended the statement because of others that ran at the same time. */
export const isContended = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === codes.serializationFailure || error.code === codes.deadlock)

/** Whether the transaction may succeed if it runs again. A referenced row may have just been deleted, which the next run sees. */
export const isRetryable = (error: unknown): boolean => isContended(error) || isReferenceGone(error)
