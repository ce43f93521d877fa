import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Kept } from './keeper.ts'

/** The modules that other processes import, as `file:` URLs; tests replace them. */
export type Parts = Readonly<{ appModule: string; runnerModule: string }>

/** The export of `src/git/runner/start.ts` that is used. */
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

/** Placeholder without a runner, which runs until it is stopped. */
function absent() {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return { pid: undefined, ended: promise, stop: async () => resolve(undefined) }
}
