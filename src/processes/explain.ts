import { getSystemErrorMap } from 'node:util'
import { StoreUnavailable } from '../blobs/blob-store.ts'
import { DatabaseLost, toConnectionError } from '../db/connection-errors.ts'
import { ConfigError } from '../environment.ts'
import { Failure } from '../kernel/failure.ts'
import { isDiskFull } from '../kernel/full-disk.ts'

/** The message for an error, and whether the user can act on it (otherwise it is a bug, and the stack is shown). */
export type Explanation = { sentence: string; expected: boolean }

/** SQLSTATE classes and codes about the connection, not about a statement. */
const databaseRefuses = /^(?:08\w{3}|28\w{3}|3D000|53300|57P0[123])$/

export function explain(error: unknown): Explanation {
  if (error instanceof DatabaseLost) return explain(error.cause)
  if (error instanceof StoreUnavailable)
    return { sentence: `The object storage is unavailable: ${error.reason}.`, expected: true }
  if (error instanceof ConfigError || error instanceof Failure) return { sentence: error.message, expected: true }
  if (!(error instanceof Error)) return { sentence: `Unexpected error: ${String(error)}`, expected: false }
  if (isDiskFull(error)) return { sentence: `A disk is full: ${error.message}. Make room there.`, expected: true }
  const { code, syscall, path, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (syscall === 'listen') return { sentence: cannotListen(error, `${address}:${port}`), expected: true }
  if (syscall === 'connect' || (error instanceof AggregateError && code !== undefined)) {
    const where = address === undefined ? '' : ` at ${address}${port === undefined ? '' : `:${port}`}`
    return { sentence: `Cannot connect to the database${where}: ${systemReason(error)}.`, expected: true }
  }
  if (syscall === 'getaddrinfo') return { sentence: `Cannot find the database: ${error.message}.`, expected: true }
  if (code !== undefined && databaseRefuses.test(code)) {
    return { sentence: `The database rejects the connection: ${error.message}.`, expected: true }
  }
  if (syscall !== undefined && path !== undefined) {
    return { sentence: `Cannot use ${path}: ${systemReason(error)}.`, expected: true }
  }
  if (toConnectionError(error) instanceof DatabaseLost) {
    const advice = 'Check STITHY_DATABASE_URL and the log of the database.'
    return { sentence: `The database is not available: ${error.message}. ${advice}`, expected: true }
  }
  return { sentence: `Unexpected error: ${error.message}`, expected: false }
}

/** `where` is the address as configured, `variable` the setting that contains it. */
export function cannotListen(error: unknown, where: string, variable = 'STITHY_HTTP_PORT'): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `Another program already listens on ${where}: stop it, or set ${variable}.`
    case 'EACCES':
      return `This user may not listen on ${where}: set ${variable} to 1024 or more.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${where} is not an address of this machine: set STITHY_HTTP_HOST.`
    default:
      return `Cannot listen on ${where}: ${systemReason(error)}.`
  }
}

/** `permission denied`, without the system call and the path that Node adds. */
export function systemReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]
  const named = [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1]
  return known ?? named ?? message
}
