import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A git runner that runs nothing: this file in its own process. */
export async function startRunner(_options: { socketPath: string }) {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: [], detached: true })
  await once(child, 'message')
  const ended = once(child, 'exit').then(() => {})
  return {
    pid: child.pid!,
    ended,
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.title = 'stithy git runner'
  process.on('disconnect', () => process.exit(0))
  process.send?.('listening')
}
