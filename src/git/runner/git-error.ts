import { Failure } from '../../kernel/failure.ts'

/** A git process that failed in a way its caller did not provide for. A bug or a broken repository; never shown to users. */
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

/** Whether git ended because the disk takes nothing more, which only its words tell. */
export const isDiskFull = (stderr: string): boolean => noRoom.test(stderr)

/** What to throw when git ended so: `Failure('storage_full')` when the disk is full, else a `GitError`. */
export function gitFailure(
  subcommand: string,
  { code, signal, stderr }: { code: number | null; signal: NodeJS.Signals | null; stderr: string },
): Error {
  const error = new GitError(subcommand, code, signal, stderr)
  return isDiskFull(stderr) ? new Failure('storage_full', 'Insufficient Storage', { cause: error }) : error
}
