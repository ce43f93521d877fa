import { created, type ForgeData, updated } from './data.ts'
import type { FakeForge } from './fake-forge.ts'

export type ForgeName = 'github' | 'gitea'

/** How a forge shows its data. */
export type Dialect = {
  readonly authorization: string
  readonly sizeParam: string
  readonly maxSize: number
  /** An object, a list of which a page is sent, or undefined for what does not exist. */
  readonly find: (forge: FakeForge, url: URL) => object | readonly object[] | undefined
}

type Issue = ForgeData['issues'][number]
type Pull = ForgeData['pulls'][number]

const times = { created_at: created, updated_at: updated }

const repositoryOf = ({ origin }: FakeForge) => ({
  id: 77,
  name: 'code',
  full_name: 'ann/code',
  owner: { id: 1, login: 'ann' },
  private: true,
  description: 'Code of Ann',
  default_branch: 'main',
  has_wiki: true,
  topics: ['tools'],
  clone_url: 'http://evil.example/ann/code.git',
  html_url: `${origin}/ann/code`,
})

const milestoneOf = (forge: FakeForge, id: number | null) => {
  const found = forge.data.milestones.find((each) => each.id === id)
  return found ? { ...found, number: found.id, description: 'Described', ...times, closed_at: null } : null
}

/** GitHub: users without names in lists, pull requests among the issues. */
const githubUser = (user: { id: number; login: string } | null) =>
  user && { id: user.id, login: user.login, type: 'User' }

const githubIssue = (forge: FakeForge, issue: Issue | Pull) => ({
  id: 9000 + issue.number,
  url: `${forge.origin}/api/v3/repos/ann/code/issues/${issue.number}`,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  user: githubUser(issue.user),
  state: issue.state,
  locked: false,
  labels: issue.labels,
  milestone: 'milestone' in issue ? milestoneOf(forge, issue.milestone) : null,
  assignees: 'assignees' in issue ? issue.assignees.map(githubUser) : [],
  closed_at: 'closed_at' in issue ? issue.closed_at : issue.merged_at,
  closed_by: null,
  ...times,
})

const ends = (forge: FakeForge, pull: Pull) => ({
  head: {
    ref: pull.branch,
    sha: forge.repository.heads.get(pull.number) ?? null,
    user: githubUser(pull.fork),
    repo: { id: pull.fork ? 78 : 77, owner: pull.fork },
    repo_id: pull.fork ? 78 : 77,
  },
  base: { ref: 'main', sha: forge.repository.first, repo: { id: 77 }, repo_id: 77 },
})

const github: Dialect = {
  authorization: 'Bearer token-of-the-forge',
  sizeParam: 'per_page',
  maxSize: 100,
  find(forge, { pathname }) {
    const { data, origin, repository } = forge
    const api = `${origin}/api/v3/repos/ann/code`
    if (pathname === '/api/v3/repositories/77') return repositoryOf(forge)
    const login = /^\/api\/v3\/users\/([^/]+)$/.exec(pathname)?.[1]
    if (login !== undefined) {
      const user = data.users.find((each) => each.login === login)
      return user && { id: user.id, login, name: user.full_name, email: user.email || null }
    }
    const path = /^\/api\/v3\/repos\/ann\/code(?:\/(.*))?$/.exec(pathname)?.[1]
    const number = Number(/\/(\d+)\//.exec(pathname)?.[1])
    const comment = ({ id, number: of, body, user }: ForgeData['comments'][number]) => ({
      id,
      body,
      user: githubUser(user),
      issue_url: `${api}/issues/${of}`,
      ...times,
    })
    const diffComment = ({
      id,
      number: of,
      body,
      user,
      path: file,
      line,
      reply,
    }: ForgeData['diffComments'][number]) => ({
      id,
      body,
      user: githubUser(user),
      pull_request_url: `${api}/pulls/${of}`,
      path: file,
      line,
      original_line: 5,
      side: 'RIGHT',
      commit_id: repository.heads.get(of),
      ...(reply !== null && { in_reply_to_id: reply }),
      ...times,
    })
    if (path === undefined) return pathname.endsWith('/repos/ann/code') ? repositoryOf(forge) : undefined
    if (path === 'labels') return data.labels
    if (path === 'milestones') return data.milestones.map(({ id }) => milestoneOf(forge, id)!)
    if (path === 'issues')
      return [
        ...data.issues.map((issue) => githubIssue(forge, issue)),
        ...data.pulls.map((pull) => ({
          ...githubIssue(forge, pull),
          pull_request: { url: `${api}/pulls/${pull.number}` },
        })),
      ]
    if (path === 'pulls')
      return data.pulls.map((pull) => ({
        ...githubIssue(forge, pull),
        ...ends(forge, pull),
        merged_at: pull.merged_at,
        merge_commit_sha: repository.main,
        requested_reviewers: [],
      }))
    if (path === 'issues/comments') return data.comments.map(comment)
    if (path === `issues/${number}/comments`) return data.comments.filter((each) => each.number === number).map(comment)
    if (path === 'pulls/comments') return data.diffComments.map(diffComment)
    if (path === `pulls/${number}/comments`)
      return data.diffComments.filter((each) => each.number === number).map(diffComment)
    if (path === `pulls/${number}/reviews`)
      return data.reviews
        .filter((each) => each.number === number)
        .map(({ id, body, state, user }) => ({ id, body, state, user: githubUser(user), submitted_at: updated }))
    if (path === 'releases')
      return data.releases.map(({ id, tag, name, body, draft, user }) => ({
        id,
        tag_name: tag,
        name,
        body,
        draft,
        author: githubUser(user),
        created_at: created,
        published_at: draft ? null : updated,
        assets: [{ id: 1, name: 'code.zip', browser_download_url: `${origin}/code.zip` }],
      }))
    return undefined
  },
}

const gitea: Dialect = {
  authorization: 'token token-of-the-forge',
  sizeParam: 'limit',
  maxSize: 50,
  find(forge, { pathname }) {
    const { data, origin, repository } = forge
    const path = /^\/api\/v1\/repos\/ann\/code(?:\/(.*))?$/.exec(pathname)?.[1]
    const [, number = 0, review = 0] = (/\/(\d+)\/reviews(?:\/(\d+)\/)?/.exec(pathname) ?? []).map(Number)
    const issueOf = (issue: Issue | Pull) => ({
      ...githubIssue(forge, issue),
      user: issue.user,
      is_locked: false,
      assignees: 'assignees' in issue ? issue.assignees : [],
      milestone: 'milestone' in issue ? milestoneOf(forge, issue.milestone) : null,
    })
    if (path === undefined) return pathname === '/api/v1/repos/ann/code' ? repositoryOf(forge) : undefined
    if (path === 'labels') return data.labels
    if (path === 'milestones')
      return data.milestones.map(({ id, title, state, due_on }) => ({
        id,
        title,
        state,
        due_on,
        description: '',
        ...times,
      }))
    if (path === 'issues') return data.issues.map(issueOf)
    if (path === 'pulls')
      return data.pulls.map((pull) => ({
        ...issueOf(pull),
        ...ends(forge, pull),
        merged: pull.merged_at !== null,
        merged_at: pull.merged_at,
        merged_by: pull.merged_at ? pull.user : null,
        merge_commit_sha: pull.merged_at ? repository.main : null,
        merge_base: repository.first,
        requested_reviewers: [],
      }))
    if (path === 'issues/comments')
      return data.comments.map(({ id, number: of, body, user }) => {
        const isPull = data.pulls.some((pull) => pull.number === of)
        return {
          id,
          body,
          user,
          issue_url: isPull ? '' : `${origin}/ann/code/issues/${of}`,
          pull_request_url: isPull ? `${origin}/ann/code/pulls/${of}` : '',
          ...times,
        }
      })
    if (path === `pulls/${number}/reviews`)
      return data.reviews
        .filter((each) => each.number === number)
        .map(({ id, body, state, user, comments }) => ({
          id,
          body,
          state: state === 'COMMENTED' ? 'COMMENT' : state,
          user,
          comments_count: comments.length,
          submitted_at: updated,
        }))
    if (path === `pulls/${number}/reviews/${review}/comments`) {
      const { comments } = data.reviews.find((each) => each.id === review)!
      return data.diffComments
        .filter((each) => comments.includes(each.id))
        .map(({ id, body, user, path: file, line }) => ({
          id,
          body,
          user,
          path: file,
          position: line ?? 0,
          original_position: 0,
          resolver: null,
          ...times,
        }))
    }
    if (path === 'releases')
      return data.releases.map(({ id, tag, name, body, draft, user }) => ({
        id,
        tag_name: tag,
        name,
        body,
        draft,
        author: user,
        created_at: created,
        published_at: updated,
        assets: [{ id: 1, name: 'code.zip', browser_download_url: `${origin}/code.zip` }],
      }))
    return undefined
  },
}

export const dialects: Readonly<Record<ForgeName, Dialect>> = { github, gitea }
