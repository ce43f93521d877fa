import { withoutTrailing } from '../../../kernel/without-ends.ts'
import type { Adapter, Resource } from './adapter.ts'
import type { ForgeItem } from './items.ts'
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
  dayIn,
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

/** The default maximum of a page. */
const limit = 'limit=50'

function readMilestone(given: Given): ForgeItem {
  const created = timeIn(given['created_at']) ?? timeIn(given['closed_at']) ?? '2000-01-01T00:00:00.000Z'
  const updated = timeIn(given['updated_at']) ?? created
  return { ...readMilestoneText(given), key: String(required(idIn(given['id']), 'id')), number: null, created, updated }
}

/** Undefined for a pull request, if the forge lists them here. */
const readIssue = (given: Given): ForgeItem | undefined =>
  isPull(given)
    ? undefined
    : {
        is: 'issue',
        ...readDiscussed(given, 'id'),
        locked: given['is_locked'] === true,
        state: stateOf(given),
        due: dayIn(given['due_date']),
      }

function readPull(given: Given): ForgeItem {
  const [head, base] = [objectIn(given['head']), objectIn(given['base'])]
  const isMerged = given['merged'] === true
  const isFork = idIn(head?.['repo_id']) !== idIn(base?.['repo_id'])
  return {
    is: 'pull',
    ...readDiscussed(given, 'id'),
    locked: given['is_locked'] === true,
    state: isMerged ? 'merged' : given['state'] === 'closed' ? 'closed' : 'opened',
    sourceBranch: required(lineIn(head?.['ref'], 500), 'head.ref'),
    targetBranch: required(lineIn(base?.['ref'], 500), 'base.ref'),
    fork: isFork ? (personIn(objectIn(head?.['repo'])?.['owner'])?.username ?? 'unknown') : null,
    head: oidIn(head?.['sha']),
    base: oidIn(given['merge_base']) ?? oidIn(base?.['sha']),
    merged: isMerged ? timeIn(given['merged_at']) : null,
    mergedBy: isMerged ? personIn(given['merged_by']) : null,
    mergeCommit: isMerged ? oidIn(given['merge_commit_sha']) : null,
    reviewers: peopleIn(given['requested_reviewers']),
  }
}

const resources: readonly Resource[] = [
  { name: 'labels', kind: 'label', path: `labels?${limit}`, read: readLabel },
  { name: 'milestones', kind: 'milestone', path: `milestones?state=all&${limit}`, read: readMilestone },
  { name: 'issues', kind: 'issue', path: `issues?state=all&type=issues&${limit}`, read: readIssue },
  { name: 'pulls', kind: 'pull_request', path: `pulls?state=all&sort=oldest&${limit}`, read: readPull },
  {
    name: 'comments',
    kind: 'note',
    path: `issues/comments?${limit}`,
    read: (given) => ({
      is: 'comment',
      ...readComment(given, numberAtEnd(given['issue_url']) ?? numberAtEnd(given['pull_request_url'])),
    }),
  },
  { name: 'releases', kind: 'release', path: `releases?${limit}`, read: readRelease },
]

function resourcesOf(item: ForgeItem): readonly Resource[] {
  if (item.is === 'pull')
    return [
      {
        name: `reviews-${item.number}`,
        kind: 'pull_request_review',
        path: `pulls/${item.number}/reviews?${limit}`,
        read: (given) => readReview(given, item.number),
      },
    ]
  if (item.is === 'review' && item.hasComments)
    return [
      {
        name: `diff-comments-${item.number}-${item.id}`,
        kind: 'diff_note',
        path: `pulls/${item.number}/reviews/${item.id}/comments`,
        read(given) {
          const comment = readComment(given, item.number)
          const path = required(textIn(given['path'], 4096), 'path')
          const newLine = numberIn(given['position']) ?? null
          const oldLine = newLine === null ? (numberIn(given['original_position']) ?? null) : null
          return {
            is: 'diff_comment',
            ...comment,
            // All comments on a line are one conversation.
            thread: `${path}:${oldLine}:${newLine}`,
            path,
            newLine,
            oldLine,
            resolved: personIn(given['resolver']),
          }
        },
      },
    ]
  return []
}

/** Gitea and Forgejo, version 1 of the API. */
export const gitea: Adapter = {
  title: 'Gitea',
  apiOf: (forge) => `${forge.origin}${withoutTrailing(forge.pathname, '/')}/api/v1`,
  headers: { accept: 'application/json' },
  authorization: (token) => `token ${token}`,
  readRepository,
  resources: () => resources,
  resourcesOf,
}
