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
