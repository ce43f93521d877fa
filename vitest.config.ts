import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { waitMs } from './test/waiting.ts'

/** Files that take longest, the longest first: one of them that begins last would leave the other workers idle. */
const longest = [
  'test/scenarios/revoked-rights.test.ts',
  'test/scenarios/backup.test.ts',
  'test/api/hostile-shapes.test.ts',
  'test/scenarios/clone-storms.test.ts',
  'test/api/permission-matrix.test.ts',
  'test/api/cached-noteables.test.ts',
  'test/scenarios/list-plans.test.ts',
  'src/processes/start-stop.test.ts',
  'test/scenarios/full-disk.test.ts',
  'test/scenarios/container-images.test.ts',
  'test/scenarios/fetch-limits.test.ts',
  'test/scenarios/crash.test.ts',
  'src/modules/planning/issue-lists/all-filters.test.ts',
  'src/modules/portability/kills.test.ts',
  'test/scenarios/object-storage.test.ts',
  'src/git/history/history.test.ts',
  'test/scenarios/damaged-backup.test.ts',
  'test/scenarios/large-archives.test.ts',
  'test/scenarios/full-disk-restore.test.ts',
  'test/api/hostile-repository.test.ts',
  'test/scenarios/racing-pushes.test.ts',
  'test/tools/operators-documents.test.ts',
  'src/modules/integrations/chat/chats.test.ts',
  'test/scenarios/hook-kills.test.ts',
  'test/scenarios/restored-database.test.ts',
  'test/api/cached-records.test.ts',
  'test/scenarios/git-ssh.test.ts',
  'test/scenarios/ssh-lost-rights.test.ts',
  'test/scenarios/ssh-large-files.test.ts',
  'test/scenarios/backup-under-load.test.ts',
  'test/api/headers.test.ts',
  'test/scenarios/clients/python-gitlab.test.ts',
  'src/modules/portability/forges/kills.test.ts',
  'src/modules/pushes/pushes/configured-rule.test.ts',
  'test/scenarios/operator-commands.test.ts',
  'test/launcher.test.ts',
  'src/blobs/move.test.ts',
  'src/modules/lifecycle/pull-mirrors/sources.test.ts',
  'src/jobs/slow-database.test.ts',
  'src/jobs/runner.test.ts',
  'test/scenarios/late-database.test.ts',
  'test/scenarios/registry-kills.test.ts',
  'test/scenarios/removal-kills.test.ts',
  'test/scenarios/forks.test.ts',
  'test/scenarios/backup-record.test.ts',
  'test/scenarios/memory.test.ts',
  'src/modules/review/push-options/push-options.test.ts',
  'src/modules/lifecycle/push-mirrors/push-mirrors.test.ts',
  'test/scenarios/clients/go.test.ts',
  'test/tools/new-area.test.ts',
  'test/scenarios/confidential-issues.test.ts',
  'test/scenarios/confidential-epics.test.ts',
  'src/modules/administration/blob-collection/blob-collection.test.ts',
  'src/modules/administration/application-settings/effects/accounts.test.ts',
  'src/modules/groups/user-removal/personal-data.test.ts',
  'test/scenarios/ssh-service.test.ts',
  'test/scenarios/git-http.test.ts',
  'test/scenarios/hidden-snippets.test.ts',
  'src/modules/repository/commits/commit-writes.test.ts',
  'src/modules/integrations/deliveries/deliveries.test.ts',
  'test/scenarios/idempotency.test.ts',
  'src/modules/review/reading/list.test.ts',
  'src/modules/pushes/pushes/protection.test.ts',
  'test/scenarios/oci-conformance.test.ts',
  'src/modules/planning/epic-lists/all-filters.test.ts',
  'src/modules/repository/branches/branches.test.ts',
  'src/modules/pushes/protected-branches/protected-branches.test.ts',
  'src/modules/portability/forges/hostile.test.ts',
  'src/modules/portability/forges/people.test.ts',
  'test/scenarios/abandoned-requests.test.ts',
  'src/modules/repository/ci-lint/ci-lint.test.ts',
  'test/scenarios/many-refs.test.ts',
  'test/scenarios/around-members-gitbeaker.test.ts',
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
    // The modules and the application fill the old one, which begins large: 3 % less CPU time in the longest test of the API, run once each.
    execArgv: ['--max-semi-space-size=64', '--initial-old-space-size=1024'],
    // More than CI has cores: a worker waits for processes, locks and timeouts most of its time.
    maxWorkers: 7,
    sequence: { sequencer: LongestFirst },
    // Timeouts end what would never end. They are no part of what tests assert, and so are long enough for a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: waitMs } },
  },
})
