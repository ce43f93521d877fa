/** A file that decides permissions, and the tests that should notice a change of it. */
export type Target = {
  readonly file: string
  /** Declarations that are mutated; all if absent. */
  readonly only?: readonly string[]
  /** Folders and files of tests; those in the folder of the file are added. The cheapest and closest come first. */
  readonly tests: readonly string[]
}

const matrix = 'test/api/permission-matrix.test.ts'
const twins = 'src/modules/namespaces/access-index/twins.test.ts'
const noteableTwins = 'src/modules/discussion/noteables/twins.test.ts'
const tokens = ['src/modules/accounts/tokens', 'test/api/tokens.test.ts', 'test/api/token-transports.test.ts']
const machines = ['src/modules/projects/deploy-keys', 'src/modules/groups/deploy-tokens']
const protection = ['protected-branches', 'protected-refs', 'protected-tags', 'pushes/protection.test.ts'].map(
  (name) => `src/modules/pushes/${name}`,
)
const groups = ['groups/groups', 'groups/shares', 'groups/members'].map((name) => `src/modules/${name}`)

const policies: readonly Target[] = [
  { file: 'src/access/policy.ts', tests: [twins, noteableTwins] },
  {
    file: 'src/access/levels.ts',
    only: ['memberLevels', 'projectMemberLevels', 'visibilityName', 'featureLevelName'],
    tests: [twins, matrix, 'src/modules/pushes/protected-branches'],
  },
  {
    file: 'src/access/actor.ts',
    tests: ['src/modules/groups/deploy-tokens', 'src/modules/administration/audit', ...tokens],
  },
  { file: 'src/access/scopes.ts', tests: [...tokens, 'src/modules/accounts/oauth', 'test/scenarios/git-lfs.test.ts'] },
  { file: 'src/access/share-key.ts', tests: ['src/kernel/shares.test.ts', 'test/api/rate-limit.test.ts'] },
  ...['project', 'group', 'instance', 'user', 'merge-request', 'snippet', 'epic'].map((noun) => ({
    file: `src/access/${noun}-policy.ts`,
    tests: [matrix],
  })),
]

const facts: readonly Target[] = [
  {
    file: 'src/modules/projects/projects/subject.ts',
    tests: [twins, matrix, 'src/modules/ci', 'src/modules/lifecycle/forks', 'src/modules/lifecycle/imports'],
  },
  { file: 'src/modules/groups/groups/subject.ts', tests: [twins, matrix, 'src/modules/lifecycle/project-creation'] },
  {
    file: 'src/modules/accounts/users/subject.ts',
    tests: ['src/modules/accounts/follows', 'src/modules/activity/event-feed', 'src/modules/projects/stars', matrix],
  },
  {
    file: 'src/modules/review/merge-requests/subject.ts',
    tests: ['src/modules/review/discussions', 'src/modules/review/reading', matrix],
  },
  { file: 'src/modules/review/approvals/subject.ts', tests: [matrix] },
  {
    file: 'src/modules/text/snippets/subject.ts',
    tests: ['src/modules/text/snippet-discussions', noteableTwins, matrix],
  },
  { file: 'src/modules/text/snippets/personal-subject.ts', tests: [matrix] },
  { file: 'src/modules/planning/epics/subject.ts', tests: [matrix] },
]

const twinsInSql: readonly Target[] = [
  {
    file: 'src/modules/projects/projects/queries.ts',
    tests: [twins, ...tokens, ...machines, 'src/modules/lifecycle/transfers', 'src/modules/activity'],
  },
  {
    file: 'src/modules/projects/projects/record-queries.ts',
    only: ['shares', 'forkSource'],
    tests: ['src/modules/groups/shares', 'src/modules/lifecycle/forks', 'test/api/cached-records.test.ts'],
  },
  {
    file: 'src/modules/projects/projects/list-queries.ts',
    only: ['setCondition', 'featureOn', 'memberAtLeast'],
    tests: [
      twins,
      'src/modules/projects/stars',
      'src/modules/activity/event-feed',
      'src/modules/lifecycle/forks',
      ...groups,
    ],
  },
  {
    file: 'src/modules/namespaces/access-index/queries.ts',
    tests: [...machines, ...groups, 'src/modules/lifecycle/transfers', ...tokens],
  },
  {
    file: 'src/modules/namespaces/namespaces/visible-groups-queries.ts',
    tests: [twins, ...groups, 'src/modules/lifecycle/transfers', 'src/modules/activity/search/search.test.ts'],
  },
  {
    file: 'src/modules/discussion/noteables/holder-queries.ts',
    tests: ['src/modules/planning/epics/twins.test.ts', twins, 'src/modules/planning/epic-discussions'],
  },
  {
    file: 'src/modules/groups/groups/queries.ts',
    only: ['callerColumns', 'tables', 'sharesColumn'],
    tests: [twins, 'src/modules/groups/shares', ...tokens],
  },
  {
    file: 'src/modules/groups/groups/list-queries.ts',
    only: ['listGroups', 'ownedBy', 'authorisedGroups'],
    tests: tokens,
  },
  {
    file: 'src/modules/registry/images/queries.ts',
    only: ['readableImages', 'repositoriesBelow'],
    tests: [twins, 'src/modules/registry/images'],
  },
  {
    file: 'src/modules/registry/access/access.ts',
    tests: ['src/modules/registry/tokens', 'src/modules/registry/images'],
  },
  {
    file: 'src/modules/accounts/users/queries.ts',
    only: ['openTo'],
    tests: ['src/modules/accounts/follows', 'src/modules/projects/stars'],
  },
  {
    file: 'src/modules/discussion/noteables/queries.ts',
    only: ['readersOf'],
    tests: [twins, 'src/modules/review/discussions'],
  },
  { file: 'src/modules/lifecycle/transfers/location-queries.ts', tests: [] },
  ...['parts-queries.ts', 'reach-queries.ts'].map((name) => ({
    file: `src/modules/planning/filters/${name}`,
    tests: ['src/modules/planning/issue-lists', 'src/modules/review/reading'],
  })),
  { file: 'src/modules/activity/event-feed/queries.ts', only: ['feedOf'], tests: [] },
  { file: 'src/modules/activity/change-feed/queries.ts', tests: [] },
  { file: 'src/modules/activity/search/queries.ts', tests: [] },
  { file: 'src/modules/activity/todos/queries.ts', only: ['own', 'findTodo'], tests: [] },
]

const branches: readonly Target[] = [
  ...['can-merge.ts', 'can-push.ts', 'collaboration.ts', 'collaboration-queries.ts'].map((name) => ({
    file: `src/modules/pushes/branch-access/${name}`,
    tests: [
      'src/modules/review/merge-requests/collaboration.test.ts',
      'src/modules/repository/commits/protected-writes.test.ts',
      ...protection,
      'src/modules/pushes/pushes/merge-level.test.ts',
      'src/modules/review/merging',
      'src/modules/repository/branches',
    ],
  })),
  {
    file: 'src/modules/pushes/protected-refs/protections.ts',
    tests: [
      ...protection,
      'src/modules/pushes/pushes',
      'src/modules/repository/branches',
      'src/modules/review/merging',
    ],
  },
  {
    file: 'src/modules/pushes/pushes/configured-rule.ts',
    tests: ['src/modules/pushes/pushes/configured-rule.test.ts'],
  },
  { file: 'src/modules/pushes/protected-refs/queries.ts', only: ['includesCaller'], tests: protection },
  {
    file: 'src/modules/repository/commits/branch-access.ts',
    tests: [
      'src/modules/repository/commits/protected-writes.test.ts',
      'src/modules/review/merge-requests/collaboration.test.ts',
      'src/modules/repository/files',
    ],
  },
]

const credentials: readonly Target[] = [
  {
    file: 'src/modules/accounts/tokens/authenticate.ts',
    tests: [...tokens, 'src/modules/accounts/users', 'src/modules/groups/resource-tokens'],
  },
  {
    file: 'src/db/sql.ts',
    only: ['unexpired'],
    tests: [...tokens, ...groups, 'src/modules/groups/invitations'],
  },
  {
    file: 'src/modules/accounts/tokens/queries.ts',
    only: [
      ...['usable', 'limitToProjects', 'limitToGroups', 'copyLimits', 'accountColumns', 'credentialColumns'],
      ...['findTokenCredential', 'findDerivedCredential', 'findRevokedFamily', 'findPasswordCredential'],
    ],
    tests: [...tokens, 'src/modules/accounts/sign-in', 'src/modules/accounts/oauth', 'test/scenarios/git-lfs.test.ts'],
  },
  {
    file: 'src/edges/http/authenticate.ts',
    only: ['callerOf', 'requireScope', 'sudoTarget'],
    tests: [...tokens, 'test/api/revocation.test.ts', 'src/modules/accounts/users'],
  },
  {
    file: 'src/modules/transport/git-transport/access.ts',
    tests: [
      'test/api/token-transports.test.ts',
      ...machines,
      'test/scenarios/git-http.test.ts',
      'src/modules/lifecycle/project-creation',
      'src/modules/administration/application-settings/effects',
      'src/modules/review/merge-requests/collaboration.test.ts',
      'test/scenarios/git-ssh.test.ts',
      'test/scenarios/ssh-agrees-with-http.test.ts',
      'test/scenarios/ssh-large-files.test.ts',
      'test/scenarios/ssh-lost-rights.test.ts',
      'test/scenarios/ssh-sign-in.test.ts',
      matrix,
    ],
  },
  {
    file: 'src/modules/transport/git-transport/queries.ts',
    tests: ['src/edges/http/go-get.test.ts', 'test/scenarios/git-http.test.ts'],
  },
]

export const targets: readonly Target[] = [...policies, ...facts, ...twinsInSql, ...branches, ...credentials]
