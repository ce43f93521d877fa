import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { waitMs } from './test/waiting.ts'

/** Files that take longest, the longest first: one of them that begins last would leave the other workers idle. */
const longest = [
  'test/scenarios/backup.test.ts',
  'test/scenarios/revoked-rights.test.ts',
  'test/api/hostile-shapes.test.ts',
  'src/modules/portability/forges/kills.test.ts',
  'test/scenarios/large-archives.test.ts',
  'test/scenarios/damaged-backup.test.ts',
  'test/scenarios/backup-under-load.test.ts',
  'test/scenarios/idempotency.test.ts',
  'test/scenarios/hook-kills.test.ts',
  'test/scenarios/full-disk.test.ts',
  'test/scenarios/operator-commands.test.ts',
  'src/modules/portability/kills.test.ts',
  'src/blobs/move.test.ts',
  'test/scenarios/forks.test.ts',
  'test/scenarios/clients/python-gitlab.test.ts',
  'src/modules/integrations/chat/chats.test.ts',
  'src/processes/start-stop.test.ts',
  'test/scenarios/crash.test.ts',
  'test/scenarios/clone-storms.test.ts',
  'test/scenarios/git-ssh.test.ts',
  'test/api/permission-matrix.test.ts',
  'test/scenarios/object-storage.test.ts',
  'src/jobs/runner.test.ts',
  'src/git/history/history.test.ts',
  'test/scenarios/list-plans.test.ts',
  'test/scenarios/fetch-limits.test.ts',
  'test/scenarios/late-database.test.ts',
  'test/scenarios/container-images.test.ts',
  'test/launcher.test.ts',
  'test/tools/new-area.test.ts',
  'test/scenarios/memory.test.ts',
  'src/modules/pushes/pushes/configured-rule.test.ts',
  'src/modules/review/push-options/push-options.test.ts',
  'test/scenarios/clients/go.test.ts',
  'test/api/hostile-repository.test.ts',
  'test/scenarios/hidden-snippets.test.ts',
  'test/scenarios/newer-schema.test.ts',
  'test/tools/operators-documents.test.ts',
  'test/scenarios/restored-database.test.ts',
  'src/modules/hostile-input.test.ts',
  'src/modules/pushes/pushes/protection.test.ts',
  'src/git/format/ref-name.test.ts',
  'src/modules/planning/issue-lists/all-filters.test.ts',
  'src/modules/integrations/deliveries/deliveries.test.ts',
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
    // Node itself strips the types, which takes less CPU time than Vite's loader of modules.
    experimental: { viteModuleRunner: false },
    setupFiles: ['test/check-statements.ts'],
    // A worker keeps its application and database over all its files.
    pool: 'forks',
    isolate: false,
    // Most objects of a test are garbage soon: a larger young generation collects them for 7 % less CPU time.
    execArgv: ['--max-semi-space-size=64'],
    // More than CI has cores: a worker waits for processes, locks and timeouts most of its time.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    // Timeouts end what would never end. They are no part of what tests assert, and so are long enough for a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: waitMs } },
  },
})
