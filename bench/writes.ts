import { apiPrefix } from '../src/edges/http/declared.ts'
import type { GitRequests } from './git-requests.ts'
import type { Asked } from './load.ts'
import { filePath } from './repository.ts'
import type { Size } from './sizes.ts'
import { projectId, repositoryMergeRequests, repositoryProject, rootToken, userId } from './world.ts'

/** A call that changes data. */
export type WriteBench = Readonly<{
  name: string
  /** Requests that are sent one after the other belong to one connection. */
  connections: number
  /** How many times `asked` is called for a round. */
  perRound: number
  /** The requests with this ordinal, which are sent once. */
  asked(ordinal: number): Asked[]
}>

/** A project of a user, without members but its owner, and the first of a hundred users who do not own it. */
const personalProject = projectId(17)
const strangers = 30

/** The name of the call that pushes, of which each is prepared by git. */
export const pushCall = 'git_push'
export const pushesPerRound = 2

function send(method: string, path: string, body: object | undefined, expected: number): Asked {
  const headers = { 'private-token': rootToken }
  const url = apiPrefix + path
  if (body === undefined) return { method, path: url, headers, expected }
  return {
    method,
    path: url,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    expected,
  }
}

const post = (path: string, body?: object): Asked => send('POST', path, body, 201)
const put = (path: string, body: object): Asked => send('PUT', path, body, 200)
const remove = (path: string, expected = 204): Asked => send('DELETE', path, undefined, expected)

/** The changes to measure, and Git over HTTP. */
export function writesFor(size: Size, git: GitRequests): WriteBench[] {
  const project = `/projects/${repositoryProject}`
  const repository = `${project}/repository`
  const mergeRequest = (n: number) => `${project}/merge_requests/${1 + (n % repositoryMergeRequests)}`
  const someProject = (n: number) => `/projects/${projectId(2 + (n % (size.projects - 2)))}`
  const one = (of: (n: number) => Asked) => (n: number) => [of(n)]
  const okay = (all: readonly Asked[]) => (n: number) => [{ ...all[n % all.length]!, expected: 200 }]
  return [
    {
      name: 'project (create)',
      connections: 1,
      perRound: 4,
      asked: one((n) => post('/projects', { name: `made-${n}` })),
    },
    {
      name: 'project (update)',
      connections: 4,
      perRound: 24,
      asked: one((n) => put(someProject(n), { description: `Described for the ${n}th time` })),
    },
    {
      name: 'group (create, delete)',
      connections: 1,
      perRound: 4,
      asked: (n) => [post('/groups', { name: `made-${n}`, path: `made-${n}` }), remove(`/groups/made-${n}`, 202)],
    },
    {
      name: 'member (add, remove)',
      connections: 1,
      perRound: 4,
      asked: (n) => {
        const members = `/projects/${personalProject}/members`
        const user = userId(strangers + (n % 100))
        return [post(members, { user_id: user, access_level: 20 }), remove(`${members}/${user}`)]
      },
    },
    {
      name: 'commit_statuses (post)',
      connections: 4,
      perRound: 24,
      asked: one((n) => post(`${project}/statuses/v${(n % 20) + 1}.0?state=success&name=job-${n}`)),
    },
    {
      name: 'commit comment (create)',
      connections: 4,
      perRound: 24,
      asked: one((n) => post(`${repository}/commits/v${(n % 90) + 1}.0/comments`, { note: `Comment ${n}` })),
    },
    {
      name: 'merge request (create)',
      connections: 1,
      perRound: 3,
      asked: one((n) => {
        const [from, to] = [n % 40, (n + 1 + Math.floor(n / 40)) % 40]
        return post(`${project}/merge_requests`, {
          source_branch: `side-${from}`,
          target_branch: `side-${to}`,
          title: `Merge ${from} to ${to}`,
        })
      }),
    },
    {
      name: 'merge request (update)',
      connections: 4,
      perRound: 16,
      asked: one((n) => put(mergeRequest(n), { description: `Described for the ${n}th time` })),
    },
    {
      name: 'merge request note (create)',
      connections: 4,
      perRound: 16,
      asked: one((n) => post(`${mergeRequest(n)}/notes`, { body: `Note ${n}` })),
    },
    {
      name: 'branch (create, delete)',
      connections: 1,
      perRound: 5,
      asked: (n) => [
        post(`${repository}/branches?branch=made-${n}&ref=main`),
        remove(`${repository}/branches/made-${n}`),
      ],
    },
    {
      name: 'tag (create)',
      connections: 1,
      perRound: 5,
      asked: one((n) => post(`${repository}/tags?tag_name=made-${n}&ref=main`)),
    },
    {
      name: 'commit of one file',
      connections: 1,
      perRound: 8,
      asked: one((n) =>
        post(`${repository}/commits`, {
          branch: 'main',
          commit_message: `Change ${n}`,
          actions: [{ action: 'update', file_path: filePath(3 + (n % 500)), content: `content ${n}\n` }],
        }),
      ),
    },
    { name: 'git_ls_remote', connections: 2, perRound: 10, asked: okay(git.listings) },
    { name: 'git_pull', connections: 2, perRound: 5, asked: okay(git.pulls) },
    { name: pushCall, connections: 1, perRound: pushesPerRound, asked: okay(git.pushes) },
  ]
}
