import { createHash } from 'node:crypto'
import type { Adapter, Resource, Stages } from './adapter.ts'
import type { DiffCommentItem, ForgeItem } from './items.ts'
import {
  isPull,
  readComment,
  readDiscussed,
  readLabel,
  readMilestoneText,
  readRelease,
  readRepository,
  readReview,
  stateOf,
} from './records.ts'
import {
  type Given,
  idIn,
  lineIn,
  numberAtEnd,
  numberIn,
  objectIn,
  oidIn,
  peopleIn,
  personIn,
  required,
  textIn,
  timeIn,
} from './values.ts'

const perPage = 'per_page=100'
const oldestFirst = `state=all&sort=created&direction=asc&${perPage}`

function readMilestone(given: Given): ForgeItem {
  const number = required(numberIn(given['number']), 'number')
  const created = required(timeIn(given['created_at']), 'created_at')
  const updated = timeIn(given['updated_at']) ?? created
  return { ...readMilestoneText(given), key: String(number), number, created, updated }
}

/** Undefined for a pull request. */
const readIssue = (given: Given): ForgeItem | undefined =>
  isPull(given)
    ? undefined
    : {
        is: 'issue',
        ...readDiscussed(given, 'number'),
        locked: given['locked'] === true,
        state: stateOf(given),
        due: null,
      }

function readPull(given: Given): ForgeItem {
  const [head, base] = [objectIn(given['head']), objectIn(given['base'])]
  const [from, into] = [objectIn(head?.['repo']), objectIn(base?.['repo'])]
  const merged = timeIn(given['merged_at'])
  const isFork = from?.['id'] === undefined || from['id'] !== into?.['id']
  return {
    is: 'pull',
    ...readDiscussed(given, 'number'),
    locked: given['locked'] === true,
    state: merged !== null ? 'merged' : given['state'] === 'closed' ? 'closed' : 'opened',
    sourceBranch: required(lineIn(head?.['ref'], 500), 'head.ref'),
    targetBranch: required(lineIn(base?.['ref'], 500), 'base.ref'),
    fork: isFork ? (personIn(head?.['user'])?.username ?? 'unknown') : null,
    head: oidIn(head?.['sha']),
    base: oidIn(base?.['sha']),
    merged,
    mergedBy: personIn(given['merged_by']),
    // Of an open one it is a trial merge.
    mergeCommit: merged === null ? null : oidIn(given['merge_commit_sha']),
    reviewers: peopleIn(given['requested_reviewers']),
  }
}

function readDiffComment(given: Given): DiffCommentItem {
  const comment = readComment(given, numberAtEnd(given['pull_request_url']))
  // Null when the line has changed since.
  const line = numberIn(given['line']) ?? null
  const isOld = given['side'] === 'LEFT'
  return {
    is: 'diff_comment',
    ...comment,
    thread: String(idIn(given['in_reply_to_id']) ?? comment.id),
    path: required(textIn(given['path'], 4096), 'path'),
    newLine: isOld ? null : line,
    oldLine: isOld ? line : null,
    resolved: null,
  }
}

const commentsAt = (path: string, name: string, number?: number): Resource => ({
  name,
  path,
  kind: 'note',
  read: (given) => ({ is: 'comment', ...readComment(given, number ?? numberAtEnd(given['issue_url'])) }),
})

const diffCommentsAt = (path: string, name: string): Resource => ({
  name,
  path,
  kind: 'diff_note',
  read: readDiffComment,
})

function resources({ singleEndpointNotes }: Stages): readonly Resource[] {
  return [
    { name: 'labels', kind: 'label', path: `labels?${perPage}`, read: readLabel },
    { name: 'milestones', kind: 'milestone', path: `milestones?state=all&${perPage}`, read: readMilestone },
    { name: 'issues', kind: 'issue', path: `issues?${oldestFirst}`, read: readIssue },
    { name: 'pulls', kind: 'pull_request', path: `pulls?${oldestFirst}`, read: readPull },
    ...(singleEndpointNotes
      ? []
      : [
          commentsAt(`issues/comments?sort=created&direction=asc&${perPage}`, 'comments'),
          diffCommentsAt(`pulls/comments?sort=created&direction=asc&${perPage}`, 'diff-comments'),
        ]),
    { name: 'releases', kind: 'release', path: `releases?${perPage}`, read: readRelease },
  ]
}

function resourcesOf(item: ForgeItem, { singleEndpointNotes }: Stages): readonly Resource[] {
  if (item.is !== 'issue' && item.is !== 'pull') return []
  const { number } = item
  return [
    ...(singleEndpointNotes ? [commentsAt(`issues/${number}/comments?${perPage}`, `comments-${number}`, number)] : []),
    ...(singleEndpointNotes && item.is === 'pull'
      ? [diffCommentsAt(`pulls/${number}/comments?${perPage}`, `diff-comments-${number}`)]
      : []),
    ...(item.is === 'pull'
      ? [
          {
            name: `reviews-${number}`,
            kind: 'pull_request_review',
            path: `pulls/${number}/reviews?${perPage}`,
            read: (given: Given) => readReview(given, number),
          },
        ]
      : []),
  ]
}

/** GitHub and GitHub Enterprise, version 3 of the REST API. */
export const github: Adapter = {
  title: 'GitHub',
  apiOf: ({ origin, hostname }) => (hostname === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`),
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  authorization: (token) => `Bearer ${token}`,
  readRepository,
  resources,
  resourcesOf,
  person: (username) => ({
    // A user name may be longer than that of a file.
    name: `person-${createHash('sha256').update(username).digest('hex')}`,
    kind: 'person',
    path: `/users/${encodeURIComponent(username)}`,
    single: true,
    read(given) {
      const person = personIn({ ...given, login: username })
      return person ? { is: 'person', ...person } : undefined
    },
  }),
}
