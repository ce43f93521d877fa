import { Failure } from '../../kernel/failure.ts'
import { isDiskFull } from '../../kernel/full-disk.ts'
import { GitError } from './git-error.ts'
import { HelperDeath } from './helper.ts'

/** How git ends after wrong arguments, which are a bug. */
const usageError = 129

/** Signals of a program that crashed, as git does if files of a repository are damaged, or the disk cannot read them. No process of the service sends them. */
const crashes: ReadonlySet<string | null> = new Set(['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGABRT', 'SIGILL'])

type End = { readonly code: number | null; readonly signal: string | null }

/** Whether git ended so because it could not read the repository. */
export const isEndOfDamaged = ({ code, signal }: End): boolean =>
  signal === null ? code !== usageError : crashes.has(signal)

/** What is wrong with a repository that could not be read; undefined if the error has another cause, such as a full disk or a killed process. */
export function damageIn(error: unknown): Error | undefined {
  const cause = error instanceof Failure && error.kind === 'unavailable' ? error.cause : error
  if (cause instanceof LostObject) return cause
  if (cause instanceof GitError) return isEndOfDamaged(cause) ? cause : undefined
  return cause instanceof HelperDeath && isEndOfDamaged(cause.exit) ? cause : undefined
}

/** Whether something else ended git, as the kernel does when memory is short. That says nothing about the repository: another attempt may succeed. */
export const wasKilled = (error: unknown): boolean =>
  error instanceof GitError && error.signal !== null && !crashes.has(error.signal)

/** The message to users about a git that was killed. */
export const killed = 'Git was ended on the server. Please try again.'

/** The message to users about a damaged repository. */
export const damaged =
  'The repository is damaged: git on the server could not read it. Please contact your Stithy administrator.'

/** What git says when it cannot use a repository at all: `HEAD`, a folder, the configuration or the list of refs is damaged. */
export const saysUnusable = (stderr: string): boolean =>
  /^fatal: (?:not a git repository|.* does not appear to be a git repository|bad config |(?:unexpected|unterminated) line in .*packed-refs)/m.test(
    stderr,
  )

/** Whether git reported an error, such as an object that it could not read, even if its exit code is not that of a failure. */
export const saysError = (stderr: string): boolean => /^error: /m.test(stderr)

/** An object to which a ref or another object refers is not in the repository. */
export class LostObject extends Error {
  override name = 'LostObject'
}

/** The failure for a repository that has lost an object. Callers use `Repository.damage`. */
export const damage = (lost: string): Failure =>
  new Failure('unavailable', damaged, { cause: new LostObject(`the repository has no ${lost}`) })

/** Why a push is refused that could not be decided, for the user. */
export const reasonOf = (error: unknown): string => {
  if (damageIn(error)) return damaged
  if (error instanceof Failure) return error.message
  if (wasKilled(error)) return killed
  return isDiskFull(error) ? 'Insufficient Storage' : 'Internal server error.'
}
