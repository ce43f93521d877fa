import { createHash } from 'node:crypto'
import { filePath } from './repository.ts'
import type { Size } from './sizes.ts'
import {
  busyUser,
  groupId,
  projectId,
  repositoryIssues,
  repositoryProject,
  rootToken,
  spread,
  tokenOf,
  topGroups,
  trueMergeRequests,
  userId,
} from './world.ts'

export type CallerName = 'root' | 'busy' | 'anonymous'

export type EndpointBench = Readonly<{
  name: string
  caller: CallerName
  /** Requested in turn; below `/api/v4`. */
  paths: readonly string[]
  /** POST without a body. Only at constant rates, because its effects remain. */
  method?: 'POST'
  /** Minimum share of the floor's rate. */
  target?: number
  /** Target P90 in ms at 200 requests per second. */
  referenceP90?: number
}>

/** A word in fifty descriptions at size L. */
const describedWord = (ordinal: number): string => createHash('md5').update(String(ordinal)).digest('hex').slice(0, 8)

/** The calls to measure, with the names of the reference load where it has them. */
export function endpointsFor(size: Size): EndpointBench[] {
  const projects = spread(size.projects, 500).map(projectId)
  const groups = spread(size.groups, 50).map(groupId)
  const roots = spread(topGroups(size), 20).map(groupId)
  const repository = `/projects/${repositoryProject}/repository`
  const files = spread(900, 200).map((ordinal) => encodeURIComponent(filePath(ordinal)))
  const folders = spread(20, 20).map((ordinal) => `src/area-${ordinal - 1}`)
  const mergeRequests = `/projects/${repositoryProject}/merge_requests`
  const merged = spread(trueMergeRequests, trueMergeRequests)
  const issues = `/projects/${repositoryProject}/issues`
  const someIssues = spread(repositoryIssues(size), 100)
  const some = (count: number, path: (index: number) => string) => Array.from({ length: count }, (_, i) => path(i))
  return [
    { name: 'user', caller: 'busy', paths: ['/user'], target: 0.5, referenceP90: 8 },
    { name: 'users', caller: 'busy', paths: ['/users'], referenceP90: 15 },
    { name: 'projects', caller: 'root', paths: ['/projects'], target: 0.2, referenceP90: 60 },
    { name: 'projects (member of many)', caller: 'busy', paths: ['/projects'], target: 0.2, referenceP90: 60 },
    { name: 'projects (anonymous)', caller: 'anonymous', paths: ['/projects'], target: 0.2, referenceP90: 60 },
    {
      name: 'projects (membership)',
      caller: 'busy',
      paths: ['/projects?membership=true'],
      target: 0.2,
      referenceP90: 60,
    },
    {
      name: 'projects (by activity)',
      caller: 'busy',
      paths: ['/projects?order_by=last_activity_at'],
      target: 0.2,
      referenceP90: 60,
    },
    {
      name: 'projects (search)',
      caller: 'busy',
      paths: some(20, (i) => `/projects?search=${describedWord(i)}`),
      referenceP90: 150,
    },
    { name: 'projects (simple)', caller: 'busy', paths: ['/projects?simple=true'], target: 0.2, referenceP90: 60 },
    {
      name: 'projects_project',
      caller: 'root',
      paths: projects.map((id) => `/projects/${id}`),
      target: 0.35,
      referenceP90: 25,
    },
    {
      name: 'projects_project (by path)',
      caller: 'busy',
      paths: [`/projects/group-1%2Fproject-${repositoryProject}`],
      target: 0.35,
      referenceP90: 25,
    },
    {
      name: 'projects_languages',
      caller: 'busy',
      paths: [`/projects/${repositoryProject}/languages`],
      referenceP90: 15,
    },
    { name: 'groups', caller: 'root', paths: ['/groups'], referenceP90: 25 },
    { name: 'groups (member of many)', caller: 'busy', paths: ['/groups'], referenceP90: 25 },
    { name: 'groups (anonymous)', caller: 'anonymous', paths: ['/groups'], referenceP90: 25 },
    {
      name: 'groups_group',
      caller: 'root',
      paths: groups.map((id) => `/groups/${id}?with_projects=false`),
      target: 0.35,
      referenceP90: 60,
    },
    {
      name: 'groups_group (with projects)',
      caller: 'root',
      paths: roots.map((id) => `/groups/${id}`),
      referenceP90: 60,
    },
    { name: 'groups_group_subgroups', caller: 'busy', paths: [`/groups/${groupId(1)}/subgroups`], referenceP90: 25 },
    { name: 'groups_projects', caller: 'root', paths: roots.map((id) => `/groups/${id}/projects`), referenceP90: 50 },
    {
      name: 'groups_projects (with subgroups)',
      caller: 'busy',
      paths: [`/groups/${groupId(1)}/projects?include_subgroups=true`],
      referenceP90: 50,
    },
    {
      name: 'groups_members_member',
      caller: 'root',
      paths: [`/groups/${groupId(1)}/members/${userId(1 + ((31 + 17) % size.users))}`],
      target: 0.35,
    },
    { name: 'groups_members_all', caller: 'busy', paths: [`/groups/${groupId(1)}/members/all`], referenceP90: 40 },
    {
      name: 'projects_members_all',
      caller: 'busy',
      paths: [`/projects/${repositoryProject}/members/all`],
      referenceP90: 40,
    },
    {
      name: 'files_file',
      caller: 'busy',
      paths: files.map((path) => `${repository}/files/${path}?ref=main`),
      target: 0.35,
      referenceP90: 25,
    },
    {
      name: 'files_file_raw',
      caller: 'busy',
      paths: files.map((path) => `${repository}/files/${path}/raw?ref=main`),
      target: 0.35,
      referenceP90: 20,
    },
    {
      name: 'files_file_blame',
      caller: 'busy',
      paths: files.slice(0, 20).map((path) => `${repository}/files/${path}/blame?ref=main`),
      referenceP90: 500,
    },
    {
      name: 'repository_tree',
      caller: 'busy',
      paths: folders.map((path) => `${repository}/tree?path=${path}`),
      target: 0.35,
      referenceP90: 25,
    },
    { name: 'repository_tree (recursive)', caller: 'busy', paths: [`${repository}/tree?recursive=true`] },
    { name: 'repository_branches', caller: 'busy', paths: [`${repository}/branches`], referenceP90: 20 },
    { name: 'branches_branch', caller: 'busy', paths: [`${repository}/branches/main`], referenceP90: 20 },
    { name: 'branches_search', caller: 'busy', paths: [`${repository}/branches?search=side`], referenceP90: 25 },
    { name: 'repository_commits', caller: 'busy', paths: [`${repository}/commits`], referenceP90: 30 },
    {
      name: 'commits (of a path)',
      caller: 'busy',
      paths: files.slice(0, 50).map((path) => `${repository}/commits?path=${path}`),
    },
    {
      name: 'commits_commit',
      caller: 'busy',
      paths: some(60, (i) => `${repository}/commits/v${i + 1}.0`),
      referenceP90: 30,
    },
    {
      name: 'commits_commit_diff',
      caller: 'busy',
      paths: some(60, (i) => `${repository}/commits/v${i + 1}.0/diff`),
      referenceP90: 40,
    },
    {
      name: 'repository_compare',
      caller: 'busy',
      paths: some(20, (i) => `${repository}/compare?from=v${i + 1}.0&to=v${i + 2}.0`),
      referenceP90: 300,
    },
    { name: 'repository_tags', caller: 'busy', paths: [`${repository}/tags`], referenceP90: 40 },
    {
      name: 'merge_base',
      caller: 'busy',
      paths: some(20, (i) => `${repository}/merge_base?refs[]=side-${i}&refs[]=main`),
      referenceP90: 40,
    },
    { name: 'contributors', caller: 'busy', paths: [`${repository}/contributors`], referenceP90: 20 },
    {
      name: 'commit_statuses',
      caller: 'busy',
      paths: some(20, (i) => `${repository}/commits/v${i + 1}.0/statuses`),
      referenceP90: 25,
    },
    {
      name: 'commit_statuses (post)',
      caller: 'root',
      method: 'POST',
      paths: some(400, (i) => `/projects/${repositoryProject}/statuses/v${(i % 20) + 1}.0?state=success&name=job-${i}`),
      referenceP90: 40,
    },
    {
      name: 'commit_comments',
      caller: 'busy',
      paths: some(20, (i) => `${repository}/commits/v${i + 1}.0/comments`),
      referenceP90: 25,
    },
    {
      name: 'commit_merge_requests',
      caller: 'busy',
      // The last tags are at merge commits.
      paths: some(15, (i) => `${repository}/commits/v${100 - i}.0/merge_requests`),
      referenceP90: 30,
    },
    { name: 'merge_requests (assigned)', caller: 'busy', paths: ['/merge_requests?scope=assigned_to_me'] },
    { name: 'merge_requests (all)', caller: 'busy', paths: ['/merge_requests?scope=all'] },
    {
      name: 'groups_merge_requests',
      caller: 'busy',
      paths: [`/groups/${groupId(1)}/merge_requests`],
      referenceP90: 80,
    },
    {
      name: 'projects_merge_requests',
      caller: 'busy',
      paths: [`/projects/${repositoryProject}/merge_requests`],
      referenceP90: 50,
    },
    {
      name: 'merge_requests_merge_request',
      caller: 'busy',
      paths: merged.map((iid) => `${mergeRequests}/${iid}`),
      referenceP90: 40,
    },
    {
      name: 'merge_requests_merge_request (rendered)',
      caller: 'busy',
      paths: merged.map((iid) => `${mergeRequests}/${iid}?render_html=true`),
      target: 0.35,
    },
    {
      name: 'merge_request_changes',
      caller: 'busy',
      paths: merged.map((iid) => `${mergeRequests}/${iid}/changes`),
      referenceP90: 150,
    },
    {
      name: 'merge_request_commits',
      caller: 'busy',
      paths: merged.map((iid) => `${mergeRequests}/${iid}/commits`),
      referenceP90: 30,
    },
    {
      name: 'merge_request_discussions',
      caller: 'busy',
      paths: merged.map((iid) => `${mergeRequests}/${iid}/discussions`),
      referenceP90: 60,
    },
    { name: 'issues (assigned)', caller: 'busy', paths: ['/issues?scope=assigned_to_me'], referenceP90: 80 },
    { name: 'issues (all)', caller: 'busy', paths: ['/issues?scope=all'], target: 0.2, referenceP90: 80 },
    { name: 'groups_issues', caller: 'busy', paths: [`/groups/${groupId(1)}/issues`], target: 0.2, referenceP90: 80 },
    {
      name: 'projects_issues',
      caller: 'busy',
      paths: [`/projects/${repositoryProject}/issues`],
      target: 0.2,
      referenceP90: 50,
    },
    {
      name: 'projects_issues_issue',
      caller: 'busy',
      paths: someIssues.map((iid) => `${issues}/${iid}`),
      target: 0.35,
      referenceP90: 30,
    },
    {
      name: 'projects_issues_search',
      caller: 'busy',
      paths: some(50, (i) => `${issues}?search=${describedWord(i)}`),
      referenceP90: 150,
    },
    {
      name: 'issue_discussions',
      caller: 'busy',
      paths: someIssues.map((iid) => `${issues}/${iid}/discussions`),
      referenceP90: 60,
    },
    { name: 'application_settings', caller: 'root', paths: ['/application/settings'], referenceP90: 15 },
  ]
}

export const isRead = ({ method }: EndpointBench): boolean => method === undefined

/** The status of a successful response. */
export const expectedOf = (endpoint: EndpointBench): number => (isRead(endpoint) ? 200 : 201)

export function headersOf(caller: CallerName, size: Size): Record<string, string> {
  if (caller === 'anonymous') return {}
  return { 'private-token': caller === 'root' ? rootToken : tokenOf(busyUser(size)) }
}
