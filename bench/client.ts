import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Load, type Measured, run } from './load.ts'

/** A separate process that generates load, so that it does not disturb what this process measures. */
export class Client implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(fileURLToPath(import.meta.url), ['client'])
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

if (process.argv[2] === 'client' && process.send) {
  process.on('message', (load: Load) => {
    run(load).then(
      (measured) => process.send!(measured),
      (error: Error) => process.send!({ failed: error.message }),
    )
  })
}
