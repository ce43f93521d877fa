import type { Supervised } from './supervisor.ts'

/** The modules that other processes import, as `file:` URLs; tests replace them. */
export type Parts = Readonly<{ appModule: string; runnerModule: string }>

/** The export of `src/git/runner/start.ts` that is used. */
type RunnerModule = {
  startRunner(options: { socketPath: string }): Promise<{ pid: number; ended: Promise<void> } & AsyncDisposable>
}

export function gitRunner({ runnerModule }: Parts, socketPath: string): Supervised {
  return {
    name: 'The git runner',
    start: async () => {
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
