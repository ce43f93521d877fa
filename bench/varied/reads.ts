import { groupId, repositoryProject, userId } from '../world.ts'
import type { Random } from './random.ts'
import type { Sample } from './sample.ts'

/** A request by the user with this ordinal; anonymous without one. The path is below `/api/v4`. */
export type Call = {
  readonly user: number | undefined
  readonly path: string
  readonly method?: 'POST' | 'PUT'
  readonly json?: unknown
}

export type Kind = {
  readonly name: string
  readonly make: (random: Random, sample: Sample) => Call
  /** How often it is drawn, compared with other kinds (1). */
  readonly weight?: number
  /** Whether this status is a success (200). */
  readonly succeeds?: (status: number) => boolean
}

const encoded = encodeURIComponent
const repository = `/projects/${repositoryProject}/repository`

const query = (values: Record<string, string | number | boolean | undefined>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${encoded(value!)}`).join('&')}`
}

/** Most people look at the first page; some go on. */
const page = (random: Random, last = 40): { page: number; per_page: number } => ({
  page: random.chance(0.6) ? 1 : random.whole(1, last),
  per_page: random.pick([20, 20, 20, 50, 100]),
})
const sort = (random: Random) => random.pick(['asc', 'desc'])
const day = (random: Random) =>
  `20${random.whole(20, 23)}-${String(random.whole(1, 12)).padStart(2, '0')}-${String(random.whole(1, 28)).padStart(2, '0')}T00:00:00Z`
const anyone = (random: Random, sample: Sample): number => random.pick(sample.users)
const anyoneOrAnonymous = (random: Random, sample: Sample): number | undefined =>
  random.chance(0.15) ? undefined : anyone(random, sample)
const ref = (random: Random, sample: Sample): string =>
  random.pick([random.pick(sample.branches), random.pick(sample.tags), random.pick(sample.commits)])

const kind = (name: string, make: Kind['make'], weight?: number): Kind => ({
  name,
  make,
  ...(weight !== undefined && { weight }),
})

const projectFilters = (random: Random) => ({
  ...page(random),
  order_by: random.pick(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at']),
  sort: sort(random),
  simple: random.chance(0.2) ? true : undefined,
})
const mergeRequestFilters = (random: Random, last: number) => ({
  ...page(random, last),
  state: random.pick(['opened', 'merged', 'closed', 'all']),
  order_by: random.pick(['created_at', 'updated_at']),
  sort: sort(random),
})

const issueFilters = (random: Random, last: number) => ({
  ...page(random, last),
  state: random.pick(['opened', 'opened', 'closed', 'all']),
  order_by: random.pick(['created_at', 'created_at', 'updated_at']),
  sort: sort(random),
  labels: random.chance(0.2) ? `label ${random.whole(1, 10)}` : undefined,
  with_labels_details: random.chance(0.1) ? true : undefined,
})
const author = (random: Random, sample: Sample) => (random.chance(0.2) ? userId(anyone(random, sample)) : undefined)

/** A file and a ref that contains it. */
const file = (random: Random, sample: Sample): { path: string; ref: string } =>
  random.chance(0.5)
    ? { path: random.pick(sample.paths), ref: 'main' }
    : {
        path: random.pick(sample.firstPaths),
        ref: random.pick([random.pick(sample.branches), random.pick(sample.tags)]),
      }

const fileUrl = (random: Random, sample: Sample, rest: string): string => {
  const { path, ref } = file(random, sample)
  return `/files/${encoded(path)}${rest}${query({ ref })}`
}

/** A call about a project that its caller may read. */
const ofProject = (name: string, rest: (random: Random, sample: Sample) => string): Kind =>
  kind(name, (random, sample) => {
    const { user, id } = random.pick(sample.readable)
    return { user, path: `/projects/${id}${rest(random, sample)}` }
  })

const ofGroup = (name: string, rest: (random: Random, sample: Sample) => string): Kind =>
  kind(name, (random, sample) => {
    const { user, id } = random.pick(sample.readableGroups)
    return { user, path: `/groups/${id}${rest(random, sample)}` }
  })

const ofMergeRequest = (name: string, rest: (random: Random) => string): Kind =>
  kind(name, (random, sample) => {
    const { user, project, iid } = random.pick(sample.mergeRequests)
    return { user, path: `/projects/${project}/merge_requests/${iid}${rest(random)}` }
  })

const ofIssue = (name: string, rest: (random: Random) => string): Kind =>
  kind(name, (random, sample) => {
    const { user, project, iid } = random.pick(sample.issues)
    return { user, path: `/projects/${project}/issues/${iid}${rest(random)}` }
  })

/** A call about a merge request whose commits exist. */
const ofMerged = (name: string, rest: string): Kind =>
  kind(name, (random, sample) => ({
    user: anyone(random, sample),
    path: `/projects/${repositoryProject}/merge_requests/${random.pick(sample.merged)}${rest}`,
  }))

const ofRepository = (name: string, rest: (random: Random, sample: Sample) => string, weight?: number): Kind =>
  kind(
    name,
    (random, sample) => ({ user: anyoneOrAnonymous(random, sample), path: repository + rest(random, sample) }),
    weight,
  )

const ofEveryone = (name: string, path: (random: Random, sample: Sample) => string): Kind =>
  kind(name, (random, sample) => ({ user: anyone(random, sample), path: path(random, sample) }))

/** Every kind of read, each with another caller, id, page, order, filter, ref or path for each request. */
export const reads: readonly Kind[] = [
  ofEveryone('user', () => '/user'),
  ofEveryone('users', (random) => `/users${query(page(random, 20))}`),
  ofEveryone('users (search)', (random) => `/users${query({ search: `user-${random.whole(1, 9999)}` })}`),
  ofEveryone('users_user', (random, sample) => `/users/${userId(anyone(random, sample))}`),
  ofEveryone(
    'users_projects',
    (random, sample) => `/users/${userId(anyone(random, sample))}/projects${query(page(random, 1))}`,
  ),
  ofEveryone('users_events', (random, sample) => `/users/${userId(anyone(random, sample))}/events`),
  kind('projects', (random, sample) => ({
    user: anyoneOrAnonymous(random, sample),
    path: `/projects${query(projectFilters(random))}`,
  })),
  ofEveryone('projects (membership)', (random) => `/projects${query({ ...projectFilters(random), membership: true })}`),
  ofEveryone('projects (owned)', (random) => `/projects${query({ ...projectFilters(random), page: 1, owned: true })}`),
  ofEveryone(
    'projects (starred)',
    (random) => `/projects${query({ ...projectFilters(random), page: 1, starred: true })}`,
  ),
  ofEveryone(
    'projects (filters)',
    (random) =>
      `/projects${query({
        ...projectFilters(random),
        visibility: random.pick(['public', 'internal', 'private']),
        archived: random.pick([true, false]),
        min_access_level: random.pick([undefined, undefined, 20, 30, 40]),
      })}`,
  ),
  ofEveryone(
    'projects (search)',
    (random, sample) => `/projects${query({ ...page(random, 2), search: random.pick(sample.words) })}`,
  ),
  ofEveryone(
    'projects (topic)',
    (random) => `/projects${query({ ...projectFilters(random), topic: `topic-${random.whole(0, 49)}` })}`,
  ),
  ofEveryone(
    'projects (keyset)',
    (random) =>
      `/projects${query({ pagination: 'keyset', order_by: 'id', sort: 'asc', per_page: random.pick([20, 50, 100]), id_after: random.whole(1, 90_000) })}`,
  ),
  ofProject('projects_project', () => ''),
  kind('projects_project (by path)', (random, sample) => ({
    user: anyoneOrAnonymous(random, sample),
    path: `/projects/${encoded(random.pick(sample.publicProjects).path)}`,
  })),
  ofProject('projects_languages', () => '/languages'),
  ofProject('projects_members_all', (random) => `/members/all${query(page(random, 1))}`),
  ofProject('projects_users', (random) => `/users${query(page(random, 1))}`),
  ofProject('projects_forks', (random) => `/forks${query({ ...projectFilters(random), page: 1 })}`),
  ofProject('projects_labels', (random) => `/labels${query(page(random, 1))}`),
  ofProject(
    'projects_milestones',
    (random) => `/milestones${query({ ...page(random, 1), state: random.pick(['active', 'closed']) })}`,
  ),
  ofProject('projects_events', (random) => `/events${query(page(random, 1))}`),
  kind('groups', (random, sample) => ({
    user: anyoneOrAnonymous(random, sample),
    path: `/groups${query({ ...page(random, 10), order_by: random.pick(['name', 'path', 'id']), sort: sort(random), all_available: random.pick([undefined, true, false]) })}`,
  })),
  ofEveryone('groups (search)', (random) => `/groups${query({ search: `group-${random.whole(1, 5000)}` })}`),
  ofGroup('groups_group', () => '?with_projects=false'),
  ofGroup('groups_group (with projects)', () => ''),
  ofGroup('groups_group_subgroups', (random) => `/subgroups${query(page(random, 1))}`),
  ofGroup('groups_projects', (random) => `/projects${query({ ...projectFilters(random), page: 1 })}`),
  kind('groups_projects (with subgroups)', (random, sample) => ({
    user: anyone(random, sample),
    path: `/groups/${random.chance(0.3) ? groupId(1) : random.pick(sample.publicGroups)}/projects${query({ ...projectFilters(random), page: random.whole(1, 5), include_subgroups: true })}`,
  })),
  ofGroup('groups_members_all', (random) => `/members/all${query(page(random, 1))}`),
  ofGroup('groups_merge_requests', (random) => `/merge_requests${query(mergeRequestFilters(random, 3))}`),
  ofEveryone('namespaces', (random) => `/namespaces${query(page(random, 1))}`),
  ofEveryone(
    'merge_requests (all)',
    (random) => `/merge_requests${query({ scope: 'all', ...mergeRequestFilters(random, 40) })}`,
  ),
  ofEveryone(
    'merge_requests (search)',
    (random, sample) => `/merge_requests${query({ scope: 'all', search: random.pick(sample.words) })}`,
  ),
  ofEveryone(
    'merge_requests (mine)',
    (random) =>
      `/merge_requests${query({ scope: random.pick(['created_by_me', 'assigned_to_me']), ...mergeRequestFilters(random, 1) })}`,
  ),
  ofProject('projects_merge_requests', (random) => `/merge_requests${query(mergeRequestFilters(random, 1))}`),
  kind('projects_merge_requests (many)', (random, sample) => ({
    user: anyone(random, sample),
    path: `/projects/${repositoryProject}/merge_requests${query({ ...mergeRequestFilters(random, 10), author_id: random.chance(0.3) ? userId(anyone(random, sample)) : undefined })}`,
  })),
  ofEveryone(
    'issues (all)',
    (random, sample) =>
      `/issues${query({ scope: 'all', ...issueFilters(random, 40), author_id: author(random, sample) })}`,
  ),
  ofEveryone('issues (search)', (random, sample) => {
    const search = random.pick(sample.issueWords)
    return `/issues${query({ scope: 'all', search, state: random.pick(['opened', undefined]) })}`
  }),
  ofEveryone(
    'issues (mine)',
    (random) =>
      `/issues${query({ scope: random.pick(['created_by_me', 'assigned_to_me']), ...issueFilters(random, 1) })}`,
  ),
  ofEveryone('issues_statistics', (random, sample) => {
    const search = random.chance(0.3) ? random.pick(sample.issueWords) : undefined
    return `/issues_statistics${query({ scope: 'all', search, author_id: author(random, sample) })}`
  }),
  ofGroup('groups_issues', (random) => `/issues${query(issueFilters(random, 3))}`),
  ofProject('projects_issues', (random) => `/issues${query(issueFilters(random, 1))}`),
  kind('projects_issues (many)', (random, sample) => ({
    user: anyone(random, sample),
    path: `/projects/${repositoryProject}/issues${query({ ...issueFilters(random, 20), author_id: author(random, sample) })}`,
  })),
  kind('projects_issues (search)', (random, sample) => ({
    user: anyone(random, sample),
    path: `/projects/${repositoryProject}/issues${query({ search: random.pick(sample.issueWords), ...page(random, 1) })}`,
  })),
  ofIssue('issues_issue', () => ''),
  ofIssue('issue_discussions', () => '/discussions'),
  ofIssue('issue_notes', (random) => `/notes${query({ sort: sort(random) })}`),
  ofIssue('issue_participants', () => '/participants'),
  ofIssue('issue_label_events', () => '/resource_label_events'),
  ofMergeRequest('merge_requests_merge_request', () => ''),
  ofMergeRequest('merge_request_discussions', () => '/discussions'),
  ofMergeRequest(
    'merge_request_notes',
    (random) => `/notes${query({ sort: sort(random), order_by: random.pick(['created_at', 'updated_at']) })}`,
  ),
  ofMergeRequest('merge_request_participants', () => '/participants'),
  ofMergeRequest('merge_request_versions', () => '/versions'),
  ofMerged('merge_request_changes', '/changes'),
  ofMerged('merge_request_commits', '/commits'),
  ofRepository(
    'repository_tree',
    (random, sample) => `/tree${query({ path: random.pick(sample.folders), ref: ref(random, sample) })}`,
  ),
  ofRepository(
    'repository_tree (recursive)',
    (random, sample) =>
      `/tree${query({ recursive: true, ref: random.pick(sample.commits), page: random.whole(1, 5), per_page: 100 })}`,
  ),
  ofRepository('files_file', (random, sample) => fileUrl(random, sample, '')),
  ofRepository('files_file_raw', (random, sample) => fileUrl(random, sample, '/raw')),
  ofRepository('files_file_blame', (random, sample) => fileUrl(random, sample, '/blame'), 0.3),
  ofRepository(
    'repository_branches',
    (random) => `/branches${query({ page: random.whole(1, 2), per_page: random.pick([20, 50, 100]) })}`,
  ),
  ofRepository('branches_branch', (random, sample) => `/branches/${encoded(random.pick(sample.branches))}`),
  ofRepository('branches_search', (random) => `/branches${query({ search: `side-${random.whole(0, 40)}` })}`),
  ofRepository(
    'repository_tags',
    (random) => `/tags${query({ ...page(random, 2), order_by: random.pick(['name', 'updated']), sort: sort(random) })}`,
  ),
  ofRepository(
    'repository_commits',
    (random, sample) =>
      `/commits${query({ ...page(random, 20), ref_name: ref(random, sample), since: random.chance(0.2) ? day(random) : undefined, with_stats: random.chance(0.1) ? true : undefined })}`,
  ),
  ofRepository(
    'commits (of a path)',
    (random, sample) => `/commits${query({ path: random.pick(sample.paths), ref_name: random.pick(sample.branches) })}`,
  ),
  ofRepository('commits_commit', (random, sample) => `/commits/${random.pick(sample.commits)}`),
  ofRepository('commits_commit_diff', (random, sample) => `/commits/${random.pick(sample.commits)}/diff`),
  ofRepository('commits_refs', (random, sample) => `/commits/${random.pick(sample.commits.slice(0, 2000))}/refs`, 0.3),
  ofEveryone('commit_statuses', (random, sample) => `${repository}/commits/${random.pick(sample.commits)}/statuses`),
  ofRepository('commit_comments', (random, sample) => `/commits/${random.pick(sample.commits)}/comments`),
  ofRepository('commit_merge_requests', (random, sample) => `/commits/${random.pick(sample.commits)}/merge_requests`),
  ofRepository(
    'repository_compare',
    (random, sample) => {
      const to = random.whole(0, sample.commits.length - 60)
      return `/compare${query({ from: sample.commits[to + random.whole(1, 20)]!, to: sample.commits[to]! })}`
    },
    0.3,
  ),
  ofRepository(
    'merge_base',
    (random, sample) => `/merge_base?refs[]=${random.pick(sample.commits)}&refs[]=${random.pick(sample.branches)}`,
  ),
]
