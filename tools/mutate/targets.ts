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
const projects = 'src/modules/projects'
const groups = 'src/modules/groups'
const pushes = ['pushes', 'protected-branches', 'protected-refs', 'protected-tags'].map(
  (noun) => `src/modules/pushes/${noun}`,
)
const tokens = ['src/modules/accounts/tokens', 'test/api/tokens.test.ts', 'test/api/token-transports.test.ts']
const transports = [
  'src/modules/projects/deploy-keys',
  'src/modules/groups/deploy-tokens',
  'test/scenarios/git-http.test.ts',
  'test/scenarios/git-ssh.test.ts',
]

export const targets: readonly Target[] = [
  // Policies.
  { file: 'src/access/policy.ts', tests: [twins, matrix, ...tokens] },
  { file: 'src/access/levels.ts', tests: [twins, matrix, ...pushes, projects] },
  {
    file: 'src/access/actor.ts',
    tests: ['src/modules/groups/deploy-tokens', 'src/modules/administration/audit', ...tokens],
  },
  { file: 'src/access/scopes.ts', tests: [...tokens, 'src/modules/accounts/oauth', 'test/scenarios/git-lfs.test.ts'] },
  { file: 'src/access/share-key.ts', tests: ['src/kernel', 'test/api/rate-limit.test.ts'] },
  {
    file: 'src/access/project-policy.ts',
    tests: [matrix, projects, ...pushes, 'src/modules/lifecycle', 'src/modules/ci', 'src/modules/repository'],
  },
  { file: 'src/access/group-policy.ts', tests: [matrix, groups, 'src/modules/planning'] },
  { file: 'src/access/instance-policy.ts', tests: [matrix, ...tokens, 'src/modules/accounts/users'] },
  { file: 'src/access/user-policy.ts', tests: [matrix, 'src/modules/accounts'] },
  { file: 'src/access/merge-request-policy.ts', tests: [matrix, 'src/modules/review', ...pushes] },
  // Facts for the policies.
  {
    file: 'src/modules/projects/projects/subject.ts',
    tests: [twins, matrix, projects, 'src/modules/ci', 'src/modules/lifecycle'],
  },
  { file: 'src/modules/groups/groups/subject.ts', tests: [twins, matrix, groups, 'src/modules/lifecycle'] },
  {
    file: 'src/modules/accounts/users/subject.ts',
    tests: [matrix, 'src/modules/accounts', 'src/modules/activity', 'src/modules/projects/stars'],
  },
  {
    file: 'src/modules/review/merge-requests/subject.ts',
    tests: ['src/modules/review/discussions', 'src/modules/review'],
  },
  { file: 'src/modules/review/approvals/subject.ts', tests: ['src/modules/review'] },
  // SQL twins.
  {
    file: 'src/modules/projects/projects/queries.ts',
    tests: [
      twins,
      ...tokens,
      ...transports.slice(0, 2),
      projects,
      'src/modules/lifecycle',
      'src/modules/activity',
      'src/modules/review/reading',
    ],
  },
  {
    file: 'src/modules/projects/projects/record-queries.ts',
    only: ['shares', 'forkSource'],
    tests: [projects, 'src/modules/groups/shares', 'src/modules/lifecycle/forks', 'test/api/cached-records.test.ts'],
  },
  {
    file: 'src/modules/namespaces/access-index/queries.ts',
    tests: [...tokens, ...transports.slice(0, 2), 'src/modules/namespaces', groups, projects, 'src/modules/lifecycle'],
  },
  {
    file: 'src/modules/namespaces/namespaces/visible-groups-queries.ts',
    tests: [twins, groups, 'src/modules/lifecycle', 'src/modules/activity/search', ...tokens],
  },
  {
    file: 'src/modules/groups/groups/queries.ts',
    only: ['callerColumns', 'tables', 'sharesColumn'],
    tests: [twins, groups, ...tokens],
  },
  {
    file: 'src/modules/groups/groups/list-queries.ts',
    only: ['listGroups', 'ownedBy', 'authorisedGroups'],
    tests: [groups, ...tokens],
  },
  {
    file: 'src/modules/accounts/users/queries.ts',
    only: ['openTo'],
    tests: ['src/modules/accounts', 'src/modules/projects/stars'],
  },
  { file: 'src/modules/discussion/noteables/queries.ts', only: ['readersOf'], tests: [twins, 'src/modules/review'] },
  { file: 'src/modules/lifecycle/transfers/location-queries.ts', tests: ['src/modules/lifecycle'] },
  {
    file: 'src/modules/review/reading/list-queries.ts',
    only: ['inSet'],
    tests: ['src/modules/review/reading', 'src/modules/review'],
  },
  {
    file: 'src/modules/projects/projects/list-queries.ts',
    only: ['setCondition', 'featureOn', 'memberAtLeast'],
    tests: [twins, projects, ...tokens],
  },
  { file: 'src/modules/activity/event-feed/queries.ts', only: ['feedOf'], tests: ['src/modules/activity'] },
  { file: 'src/modules/activity/search/queries.ts', tests: ['src/modules/activity'] },
  { file: 'src/modules/activity/todos/queries.ts', only: ['own', 'findTodo'], tests: ['src/modules/activity'] },
  // Branches.
  ...['can-merge.ts', 'can-push.ts', 'collaboration.ts', 'collaboration-queries.ts'].map((name) => ({
    file: `src/modules/pushes/branch-access/${name}`,
    tests: [
      'src/modules/review/merge-requests/collaboration.test.ts',
      ...pushes,
      'src/modules/repository/branches',
      'src/modules/repository/commits/protected-writes.test.ts',
      'src/modules/review/merging',
      'test/scenarios/revoked-rights.test.ts',
    ],
  })),
  {
    file: 'src/modules/pushes/protected-refs/protections.ts',
    tests: [...pushes, 'src/modules/repository/branches', 'src/modules/repository/tags', 'src/modules/review/merging'],
  },
  { file: 'src/modules/pushes/protected-refs/queries.ts', only: ['includesCaller'], tests: pushes },
  {
    file: 'src/modules/repository/commits/branch-access.ts',
    tests: [
      'src/modules/repository/files',
      'src/modules/review/merge-requests/collaboration.test.ts',
      'src/modules/pushes/pushes',
    ],
  },
  // Tokens and git.
  {
    file: 'src/modules/accounts/tokens/authenticate.ts',
    tests: [...tokens, 'src/modules/accounts', 'src/modules/groups/resource-tokens'],
  },
  {
    file: 'src/modules/accounts/tokens/queries.ts',
    only: [
      'usable',
      'limitToProjects',
      'limitToGroups',
      'copyLimits',
      'accountColumns',
      'credentialColumns',
      'findTokenCredential',
      'findDerivedCredential',
      'findRevokedFamily',
      'findPasswordCredential',
    ],
    tests: [...tokens, 'src/modules/accounts', 'src/modules/groups/resource-tokens', 'test/scenarios/git-lfs.test.ts'],
  },
  {
    file: 'src/edges/http/authenticate.ts',
    only: ['callerOf', 'requireScope', 'sudoTarget'],
    tests: [...tokens, 'src/modules/accounts', 'test/api/revocation.test.ts'],
  },
  {
    file: 'src/modules/transport/git-transport/access.ts',
    tests: [
      'test/api/token-transports.test.ts',
      ...transports,
      matrix,
      'src/modules/lifecycle/project-creation',
      'src/modules/administration/application-settings/effects',
      'src/modules/review/merge-requests/collaboration.test.ts',
    ],
  },
  {
    file: 'src/modules/transport/git-transport/queries.ts',
    tests: ['src/edges/http/go-get.test.ts', ...transports.slice(2)],
  },
]
