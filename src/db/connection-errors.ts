import { Failure } from '../kernel/failure.ts'

/**
 * SQLSTATE classes and codes about the server or the connection rather than the statement: connections (08, 28, 3D), resources
 * except disk space (53), shutdown, recovery and failover (57P, 25006), and timeouts (25P03, 55P03, 57014).
 */
const states = /^(?:08\w{3}|28\w{3}|3D000|53[023]00|57P0\d|57014|25006|25P03|55P03)$/

/** Errors of sockets and of host name lookup. */
const codes = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ENOENT ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN EMFILE ENFILE'.split(
    ' ',
  ),
)

/** Errors of the driver without a code. */
const sentences =
  /^Connection terminated|^Client has encountered a connection error|timeout exceeded when trying|^timeout expired/

/** PostgreSQL is back seconds after it crashed or was restarted. */
const retryAfterSeconds = 5

/** The database is unavailable; `cause` is the reason. A commit in progress may or may not have succeeded. */
export class DatabaseLost extends Failure {
  constructor(cause: unknown) {
    super('unavailable', 'The database is not available', { cause, retryAfterSeconds })
  }
}

const isLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const { code = '' } = error as NodeJS.ErrnoException
  // Only PostgreSQL reports a severity. The driver is not loaded here, because the primary uses this file.
  return 'severity' in error ? states.test(code) : codes.has(code) || sentences.test(error.message)
}

/** Maps an error of the driver: `DatabaseLost` if the database is unavailable, otherwise the error itself. */
export const toConnectionError = (error: unknown): unknown => (isLoss(error) ? new DatabaseLost(error) : error)

/** Waits for a result, and maps its error by `toConnectionError`. */
export const mapConnectionError = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error) => Promise.reject(toConnectionError(error)))
