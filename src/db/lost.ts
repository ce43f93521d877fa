import { Failure } from '../kernel/failure.ts'

/**
 * SQLSTATE classes and codes that speak of the server or the connection rather than of the statement: connections (08, 28,
 * 3D), resources but room (53), shutdown, recovery and failover (57P, 25006), and what took too long (25P03, 55P03, 57014).
 */
const states = /^(?:08\w{3}|28\w{3}|3D000|53[023]00|57P0\d|57014|25006|25P03|55P03)$/

/** Errors of sockets and of looking up the host. */
const codes = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ENOENT ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN EMFILE ENFILE'.split(
    ' ',
  ),
)

/** What the driver says without a code. */
const sentences =
  /^Connection terminated|^Client has encountered a connection error|timeout exceeded when trying|^timeout expired/

/** The database is unavailable; `cause` is the reason. A commit in progress may or may not have succeeded. */
export class DatabaseLost extends Failure {
  constructor(cause: unknown) {
    super('unavailable', 'The database is not available', { cause })
  }
}

const isLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const { code = '' } = error as NodeJS.ErrnoException
  // Only PostgreSQL says how severe it is. Its driver is not loaded here, for the primary needs this file.
  return 'severity' in error ? states.test(code) : codes.has(code) || sentences.test(error.message)
}

/** What to throw for an error of the driver: `DatabaseLost` when it is the database that is not there. */
export const orLost = (error: unknown): unknown => (isLoss(error) ? new DatabaseLost(error) : error)

/** What the database was asked, failing with `orLost` of what went wrong. */
export const answered = <T>(asked: Promise<T>): Promise<T> => asked.catch((error) => Promise.reject(orLost(error)))
