import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Kept } from './keeper.ts'

/** The rest of Stithy, by `file:` URL, because it is loaded in other processes; tests bring stand-ins. */
export type Parts = Readonly<{ appModule: string; runnerModule: string }>

/** What `src/git/runner/start.ts` exports. */
type RunnerModule = {
  startRunner(options: { socketPath: string }): Promise<{ pid: number; ended: Promise<void> } & AsyncDisposable>
}

export function gitRunner({ runnerModule }: Parts, socketPath: string): Kept {
  return {
    name: 'The git runner',
    start: async () => {
      if (!existsSync(fileURLToPath(runnerModule))) return absent()
      const { startRunner } = (await import(runnerModule)) as RunnerModule
      const runner = await startRunner({ socketPath })
      return {
        pid: runner.pid,
        ended: runner.ended.then(() => undefined),
        stop: async () => runner[Symbol.asyncDispose](),
      }
    },
  }
}

/** Until there is a runner: something that runs for as long as it is wanted. */
function absent() {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return { pid: undefined, ended: promise, stop: async () => resolve(undefined) }
}
