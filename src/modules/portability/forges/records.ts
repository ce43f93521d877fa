import type { ForgeItem, ForgeRepository, LabelItem, ReviewItem } from './items.ts'
import {
  colorIn,
  dayIn,
  type Given,
  idIn,
  labelTitleIn,
  lineIn,
  listIn,
  maxBody,
  numberIn,
  objectIn,
  peopleIn,
  personIn,
  required,
  textIn,
  timeIn,
} from './values.ts'

/** `owner/name` without anything that changes a path. */
export const isFullName = (text: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]*\/[A-Za-z0-9_.-]+$/.test(text) && !/\/\.\.?$/.test(text)

export function readRepository(given: Given): ForgeRepository | undefined {
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
}

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

/** What forges write alike of a milestone. */
export const readMilestoneText = (given: Given) => ({
  is: 'milestone' as const,
  title: required(lineIn(given['title'], 255), 'title'),
  description: textIn(given['description'], maxBody),
  closed: given['state'] === 'closed',
  due: dayIn(given['due_on']),
})

/** Lists of issues may have pull requests, too. */
export const isPull = (given: Given): boolean => given['pull_request'] !== undefined && given['pull_request'] !== null

/** The state of an issue. */
export const stateOf = (given: Given) => (given['state'] === 'closed' ? 'closed' : 'opened')

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
