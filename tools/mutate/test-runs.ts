import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import type { TestSpecification, Vitest } from 'vitest/node'
import { createVitest } from 'vitest/node'
import type { Mutant } from './mutants.ts'
import type { Target } from './targets.ts'

/** A test that waits this long, in milliseconds, fails: a mutant may wait for what never happens. */
const timeoutMs = 120_000

export type Outcome = {
  /** The first test that failed; `undefined` if all passed. */
  readonly failed: string | undefined
  readonly seconds: number
}

/**
 * Runs tests of mutants in one Vitest, one worker at a time: server and transformed sources are shared, the database and all
 * modules of a worker are new. The mutated source is handed to the worker and never written to disk.
 */
export class TestRuns {
  readonly #vitest: Vitest
  readonly #root: string
  readonly #mutated: { current: Mutant | undefined }

  private constructor(vitest: Vitest, root: string, mutated: { current: Mutant | undefined }) {
    this.#vitest = vitest
    this.#root = root
    this.#mutated = mutated
  }

  static async start(root: string): Promise<TestRuns> {
    const mutated: { current: Mutant | undefined } = { current: undefined }
    // The order of a run: as given, so that the closest tests come first.
    class AsGiven {
      sort = async (files: TestSpecification[]) => files
      shard = async (files: TestSpecification[]) => files
    }
    const vitest = await createVitest(
      'test',
      {
        root,
        watch: false,
        bail: 1,
        maxWorkers: 1,
        testTimeout: timeoutMs,
        hookTimeout: timeoutMs,
        reporters: [{}],
        silent: true,
        // Mutants come from the loader of modules, and the cache on disk takes the content of a file for what was run.
        experimental: { viteModuleRunner: true },
        fsModuleCache: false,
        sequence: { sequencer: AsGiven as never },
      },
      {
        plugins: [
          {
            name: 'mutant',
            enforce: 'pre',
            load: (id) =>
              mutated.current && id === join(root, mutated.current.target.file) ? mutated.current.text : undefined,
          },
        ],
      },
    )
    return new TestRuns(vitest, root, mutated)
  }

  /** Runs the tests of a target, with a mutant of it or without. */
  async run(files: readonly string[], mutant?: Mutant): Promise<Outcome> {
    const began = performance.now()
    this.#mutated.current = mutant
    if (mutant) this.#vitest.invalidateFile(join(this.#root, mutant.target.file))
    const project = this.#vitest.getRootProject()
    // Vitest reports the results of earlier runs as well.
    this.#vitest.state.filesMap.clear()
    this.#vitest.state.idMap.clear()
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(
      files.map((file) => project.createSpecification(join(this.#root, file))),
    )
    this.#mutated.current = undefined
    if (mutant) this.#vitest.invalidateFile(join(this.#root, mutant.target.file))
    await this.#tidy()
    let failed: string | undefined
    for (const module of testModules) {
      if (module.state() !== 'failed') continue
      const [test] = module.children.allTests('failed')
      failed ??= `${module.relativeModuleId}${test ? ` > ${test.fullName}` : `: ${String(module.errors()[0]?.message)}`}`
    }
    if (unhandledErrors.length > 0) failed ??= String((unhandledErrors[0] as Error).message)
    return { failed, seconds: (performance.now() - began) / 1000 }
  }

  /** Removes the databases and folders of worlds: they outlive workers, and a run has hundreds. */
  async #tidy(): Promise<void> {
    const { postgres, folder } = this.#vitest.getRootProject().getProvidedContext()
    const client = new pg.Client({ connectionString: postgres.adminUrl })
    await client.connect()
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where datname ~ '^world_'`,
    )
    for (const { datname } of rows)
      await client.query(`drop database if exists ${pg.escapeIdentifier(datname)} with (force)`)
    await client.end()
    for (const name of readdirSync(folder))
      if (name.startsWith('stithy-w')) await rm(join(folder, name), { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#vitest.close()
  }
}

/** The test files of a target in the order in which they run. */
export function testsOf(root: string, { file, tests }: Target): string[] {
  const all = String(execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root }))
    .trim()
    .split('\n')
  const places = [dirname(file), ...tests]
  return [...new Set(places.flatMap((place) => all.filter((test) => test === place || test.startsWith(`${place}/`))))]
}
