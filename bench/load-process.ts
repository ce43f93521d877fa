import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A separate process that generates load, so that it does not disturb what this process measures. `module` calls `answerLoads`. */
export class LoadProcess<Load extends object, Measured extends object> implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor(module: string) {
    this.#child = fork(fileURLToPath(module))
  }

  async run(load: Load): Promise<Measured> {
    this.#child.send(load)
    const [answer] = (await once(this.#child, 'message')) as [Measured | { failed: string }]
    if ('failed' in answer) throw new Error(answer.failed)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Runs the loads that arrive, if this process was started for `module`. */
export function answerLoads<Load, Measured>(module: string, run: (load: Load) => Promise<Measured>): void {
  if (!process.send || process.argv[1] !== fileURLToPath(module)) return
  process.on('message', (load: Load) => {
    run(load).then(
      (measured) => process.send!(measured),
      (error: Error) => process.send!({ failed: error.stack ?? error.message }),
    )
  })
}
