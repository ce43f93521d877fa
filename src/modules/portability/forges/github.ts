import { createHash } from 'node:crypto'
import type { Adapter, Resource, Stages } from './adapter.ts'
import type { DiffCommentItem, ForgeItem, LabelItem, ReviewItem } from './items.ts'
import {
  colorIn,
  dayIn,
  type Given,
  idIn,
  labelTitleIn,
  lineIn,
  listIn,
  maxBody,
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

export function readLabel(given: Given): LabelItem {
  return {
    is: 'label',
    title: required(labelTitleIn(given['name']), 'name'),
    color: colorIn(given['color']),
    description: textIn(given['description'], 10_000) || null,
  }
}

const labelsIn = (value: unknown): LabelItem[] =>
  listIn(value, 100).flatMap((each) => {
    const given = objectIn(each)
    return given && labelTitleIn(given['name']) !== null ? [readLabel(given)] : []
  })

/** Attributes that issues and pull requests have in common. `milestoneKey` is the attribute of a milestone that names it. */
export function readDiscussed(given: Given, milestoneKey: 'number' | 'id') {
  const created = required(timeIn(given['created_at']), 'created_at')
  const key = idIn(objectIn(given['milestone'])?.[milestoneKey])
  return {
    number: required(numberIn(given['number']), 'number'),
    title: lineIn(given['title'], 255) ?? 'Untitled',
    body: textIn(given['body'], maxBody),
    author: personIn(given['user']),
    labels: labelsIn(given['labels']),
    milestone: key === undefined ? null : String(key),
    assignees: peopleIn(given['assignees']),
    created,
    updated: timeIn(given['updated_at']) ?? created,
    closed: timeIn(given['closed_at']),
    closedBy: personIn(given['closed_by']),
  }
}

/** What both forges say alike of a milestone. */
export const readMilestoneText = (given: Given) => ({
  is: 'milestone' as const,
  title: required(lineIn(given['title'], 255), 'title'),
  description: textIn(given['description'], maxBody),
  closed: given['state'] === 'closed',
  due: dayIn(given['due_on']),
})

function readMilestone(given: Given): ForgeItem {
  const number = required(numberIn(given['number']), 'number')
  const created = required(timeIn(given['created_at']), 'created_at')
  const updated = timeIn(given['updated_at']) ?? created
  return { ...readMilestoneText(given), key: String(number), number, created, updated }
}

/** Lists of issues may have pull requests, too. */
export const isPull = (given: Given): boolean => given['pull_request'] !== undefined && given['pull_request'] !== null

/** The state of an issue. */
export const stateOf = (given: Given) => (given['state'] === 'closed' ? 'closed' : 'opened')

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

/** What all comments have. */
export function readComment(given: Given, number: number | undefined) {
  const created = required(timeIn(given['created_at']), 'created_at')
  return {
    id: required(idIn(given['id']), 'id'),
    number: required(number, 'issue_url'),
    author: personIn(given['user']),
    body: textIn(given['body'], maxBody) ?? '',
    created,
    updated: timeIn(given['updated_at']) ?? created,
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

const reviewStates: Readonly<Record<string, ReviewItem['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  REQUEST_CHANGES: 'changes_requested',
  COMMENTED: 'commented',
  COMMENT: 'commented',
  DISMISSED: 'dismissed',
}

/** Undefined for a review that waits for its author. */
export function readReview(given: Given, number: number): ReviewItem | undefined {
  const state = reviewStates[String(given['state'])]
  const created = timeIn(given['submitted_at'])
  if (state === undefined || created === null) return undefined
  return {
    is: 'review',
    id: required(idIn(given['id']), 'id'),
    number,
    author: personIn(given['user']),
    state: given['dismissed'] === true ? 'dismissed' : state,
    body: textIn(given['body'], maxBody) ?? '',
    created,
    hasComments: Number(given['comments_count']) > 0,
  }
}

export function readRelease(given: Given): ForgeItem {
  const created = required(timeIn(given['created_at']), 'created_at')
  return {
    is: 'release',
    tag: required(lineIn(given['tag_name'], 1024), 'tag_name'),
    name: lineIn(given['name'], 255),
    body: textIn(given['body'], maxBody) ?? '',
    author: personIn(given['author']),
    draft: given['draft'] === true,
    created,
    released: timeIn(given['published_at']) ?? created,
    assets: listIn(given['assets'], 500).flatMap((each) => {
      const asset = objectIn(each)
      const [name, url] = [lineIn(asset?.['name'], 255), textIn(asset?.['browser_download_url'], 2048)]
      return name !== null && url !== null && /^https?:\/\/[^\s]+$/i.test(url) ? [{ name, url }] : []
    }),
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
  readRepository(given) {
    const fullName = textIn(given['full_name'], 300)
    const name = textIn(given['name'], 255)
    if (fullName === null || name === null || !isFullName(fullName)) return undefined
    return {
      fullName,
      name,
      description: lineIn(given['description'], 2000),
      private: given['private'] !== false,
      defaultBranch: textIn(given['default_branch'], 500),
      hasWiki: given['has_wiki'] === true,
      topics: listIn(given['topics'], 20).flatMap((each) => lineIn(each, 255) ?? []),
    }
  },
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

/** `owner/name` without anything that changes a path. */
export const isFullName = (text: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]*\/[A-Za-z0-9_.-]+$/.test(text) && !/\/\.\.?$/.test(text)
