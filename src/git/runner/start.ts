import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A runner process started by this process. */
export class RunnerProcess {
  readonly socketPath: string
  readonly #child: ChildProcess
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>

  constructor(socketPath: string, child: ChildProcess) {
    this.socketPath = socketPath
    this.#child = child
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Ends the runner and all its children. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
  }
}

/**
 * Forks the runner and resolves when it listens on `socketPath` (at most 107 bytes; whichever user can write to it can run git
 * as the server, so its folder must be private). The runner ends with this process. Rejects if it cannot start.
 */
export async function startRunner({ socketPath }: { socketPath: string }): Promise<RunnerProcess> {
  if (Buffer.byteLength(socketPath) > 107)
    throw new Error(`the path of a unix socket may have 107 bytes: ${socketPath}`)
  const child = fork(fileURLToPath(new URL('./main.ts', import.meta.url)), [socketPath], {
    // Without the parent's inspector and loaders.
    execArgv: ['--max-semi-space-size=4'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Ctrl-C in a terminal must not end the runner before the server has finished its requests.
    detached: true,
  })
  const runner = new RunnerProcess(socketPath, child)
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the git runner ended at start with code ${code}`))),
  ])
  return runner
}
