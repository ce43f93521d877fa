import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { waitMs } from './test/waiting.ts'

/** Files that take longest, the longest first: begun last, one of them would let the other worker idle. */
const longest = [
  'test/scenarios/crash.test.ts',
  'src/processes/start-stop.test.ts',
  'test/api/hostile-shapes.test.ts',
  'test/api/hostile-repository.test.ts',
  'src/modules/repository/commits/races.test.ts',
  'src/git/merge/merging.test.ts',
  'src/git/history/history.test.ts',
  'test/scenarios/forks.test.ts',
  'src/db/embedded/start.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.endsWith(name))
      return index < 0 ? longest.length : index
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['src/db/testing/install.ts'],
    // A worker keeps its application and database over all its files.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Timeouts end what would never end. They are no part of what tests assert, and so are long enough for a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: waitMs } },
  },
})
