import { Failure } from '../../kernel/failure.ts'
import type { Exit } from './protocol.ts'

/** An unexpected failure of a git process: a bug or a broken repository. Never shown to users. */
export class GitError extends Error {
  override name = 'GitError'
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string

  constructor(subcommand: string, code: number | null, signal: NodeJS.Signals | null, stderr: string) {
    super(`git ${subcommand} ended with ${signal ?? code}: ${stderr.trim().slice(0, 1000)}`)
    this.code = code
    this.signal = signal
    this.stderr = stderr
  }
}

const noRoom = /No space left on device|Disk quota exceeded|Read-only file system|Out of diskspace|couldn't write/

/** Whether git failed because the disk is full, which only its message shows. */
export const isDiskFull = (stderr: string): boolean => noRoom.test(stderr)

/** A git process reached its timeout and was ended. */
export class GitTimeout extends Failure {
  constructor(cause: GitError) {
    super('unavailable', 'The operation took too long', { cause })
  }
}

/** The error for a failed git process: `GitTimeout`, `Failure('storage_full')` if the disk is full, otherwise a `GitError`. */
export function gitFailure(subcommand: string, { code, signal, stderr, timedOut }: Exit): Error {
  const error = new GitError(subcommand, code, signal, stderr)
  if (timedOut) return new GitTimeout(error)
  return isDiskFull(stderr) ? new Failure('storage_full', 'Insufficient Storage', { cause: error }) : error
}
