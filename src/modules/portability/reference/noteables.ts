import type { BoardParts } from './boards.ts'
import type { Converter } from './converter.ts'
import { addAward, addNote } from './notes.ts'
import { colorOf, isObject, listIn, type Nested, oneIn, pick, scalar, timeOf, timesOf } from './values.ts'

/** What issues and merge requests refer to. */
export type Noteables = {
  readonly to: Converter
  /** Lines of labels, by whether they are of a group and their titles. */
  readonly labels: Map<string, number>
  /** Lines of milestones by their titles. */
  readonly milestones: Map<unknown, number>
}

/** Labels of groups are in the list of the project, too, or only where they are used. */
export async function noteableLabel(noteables: Noteables, label: Nested): Promise<number | undefined> {
  const { to, labels } = noteables
  const isOfGroup = label['type'] === 'GroupLabel'
  const key = JSON.stringify([isOfGroup, scalar(label['title'])])
  const known = labels.get(key)
  if (known !== undefined) return known
  const line = await to.add('labels', {
    ...pick(label, 'title', 'description'),
    color: colorOf(label['color']),
    ...timesOf(label),
    ...(isOfGroup && { group: true }),
  })
  if (line === undefined) return undefined
  labels.set(key, line)
  const [first] = listIn(label, 'priorities')
  if (first) await to.add('label_priorities', { label: line, priority: first['priority'] })
  return line
}

/** Milestones of the project are in its list; those of groups are only where they are used. */
export async function noteableMilestone(
  noteables: Noteables,
  milestone: Nested | undefined,
): Promise<number | undefined> {
  if (!milestone) return undefined
  const known = noteables.milestones.get(milestone['title'])
  return known ?? addMilestone(noteables, milestone, true)
}

/** Adds a milestone, and makes it known by its title. */
export async function addMilestone(
  { to, milestones }: Noteables,
  milestone: Nested,
  isOfGroup: boolean,
): Promise<number | undefined> {
  const line = await to.add('milestones', {
    ...pick(milestone, 'iid', 'title', 'description', 'state', 'start_date', 'due_date'),
    ...timesOf(milestone),
    ...(isOfGroup && { group: true }),
  })
  if (line !== undefined) milestones.set(milestone['title'], line)
  return line
}

/** How the labels and milestones are found that records nest. */
export const partsOf = (noteables: Noteables): BoardParts => ({
  labelOf: (label) => noteableLabel(noteables, label),
  milestoneOf: (milestone) => noteableMilestone(noteables, milestone),
})

/** What issues have that has no place here. */
const without = ['designs', 'zoom_meetings', 'sentry_issue'] as const

/** Adds an issue or merge request with everything that belongs to it. */
export async function convertNoteable(
  noteables: Noteables,
  kind: 'issue' | 'merge_request',
  record: Nested,
): Promise<void> {
  const { to } = noteables
  const common = {
    ...pick(record, 'iid', 'title', 'description', 'discussion_locked'),
    author: to.authorOf(record['author_id']),
    time_estimate: record['time_estimate'] ?? 0,
    milestone: await noteableMilestone(noteables, oneIn(record, 'milestone')),
    ...timesOf(record),
  }
  const line = await to.add(`${kind}s`, {
    ...common,
    ...(kind === 'issue' ? ofIssue(to, record) : ofRequest(to, record)),
  })
  if (line === undefined) return
  if (kind === 'merge_request') {
    await addVersion(to, line, record)
    await addReviews(to, line, record)
  }
  for (const name of without) to.leaveOut(name, listIn(record, name).length + (oneIn(record, name) ? 1 : 0))
  await convertSurroundings(to, { kind, line, ...partsOf(noteables) }, record)
}

/** Whose records are added, and how the line of a nested label is found. */
export type Surrounded = {
  readonly kind: 'issue' | 'merge_request' | 'snippet' | 'epic'
  readonly line: number
  readonly labelOf: (label: Nested) => Promise<number | undefined>
  /** The same of a milestone, for what can have one. */
  readonly milestoneOf?: (milestone: Nested | undefined) => Promise<number | undefined>
}

/** Events have names of actions, or their numbers. */
const actionOf = ({ action }: Nested): unknown => (action === 1 ? 'add' : action === 2 ? 'remove' : action)

/** Adds the labels, events, awards, notes, time and assignees of an issue, merge request, snippet or epic. */
export async function convertSurroundings(
  to: Converter,
  { kind, line, labelOf, milestoneOf }: Surrounded,
  record: Nested,
): Promise<void> {
  const noteable = { [kind]: line }
  for (const link of listIn(record, 'label_links')) {
    const label = isObject(link['label']) ? await labelOf(link['label']) : undefined
    if (label !== undefined) await to.add(`${kind}_labels`, { ...noteable, label })
  }
  for (const event of listIn(record, 'resource_label_events')) {
    const label = isObject(event['label']) ? await labelOf(event['label']) : undefined
    await to.add(`${kind}_label_events`, {
      ...noteable,
      label,
      author: to.authorOf(event['user_id']),
      action: actionOf(event),
      created_at: timeOf(event['created_at']),
    })
  }
  for (const event of milestoneOf ? listIn(record, 'resource_milestone_events') : [])
    await to.add(`${kind}_milestone_events`, {
      ...noteable,
      milestone: await milestoneOf?.(oneIn(event, 'milestone')),
      author: to.userOf(event['user_id']),
      action: actionOf(event),
      created_at: timeOf(event['created_at']),
    })
  for (const event of listIn(record, 'resource_state_events'))
    await to.add(`${kind}_state_events`, {
      ...noteable,
      author: to.userOf(event['user_id']),
      state: event['state'],
      created_at: timeOf(event['created_at']),
    })
  for (const log of listIn(record, 'timelogs')) {
    const created_at = timeOf(log['created_at'])
    await to.add(`${kind}_time_logs`, {
      ...noteable,
      author: to.authorOf(log['user_id']),
      seconds: log['time_spent'],
      spent_at: timeOf(log['spent_at']) ?? created_at,
      created_at,
    })
  }
  for (const award of listIn(record, 'award_emoji')) await addAward(to, kind, { ...noteable }, award)
  for (const assignee of assigneesOf(record, `${kind}_assignees`))
    await to.add(`${kind}_assignees`, { ...noteable, user: to.userOf(assignee['user_id']) })
  for (const note of listIn(record, 'notes')) await addNote(to, kind, noteable, note)
}

/** Older archives have the one assignee of a merge request in a column. */
function assigneesOf(record: Nested, name: string): readonly Nested[] {
  const user_id = record['assignee_id']
  return Object.hasOwn(record, name) || !Number.isSafeInteger(user_id) ? listIn(record, name) : [{ user_id }]
}

const ofIssue = (to: Converter, record: Nested): Nested => ({
  state: record['state'],
  confidential: record['confidential'] ?? false,
  ...pick(record, 'due_date', 'weight', 'relative_position'),
  closed_at: timeOf(record['closed_at']),
  closed_by: to.userOf(record['closed_by_id']),
})

function ofRequest(to: Converter, record: Nested): Nested {
  const metrics = oneIn(record, 'metrics') ?? {}
  const removesSource = oneIn(record, 'merge_params')?.['force_remove_source_branch']
  return {
    state: record['state'] === 'locked' ? 'opened' : record['state'],
    ...pick(record, 'source_branch', 'target_branch'),
    own_source: record['source_project_id'] === record['target_project_id'],
    squash: record['squash'] ?? false,
    allow_collaboration: record['allow_maintainer_to_push'] ?? false,
    ...pick(record, 'approvals_before_merge'),
    force_remove_source_branch:
      removesSource === undefined ? undefined : ['1', 'true'].includes(String(scalar(removesSource))),
    merge_commit_oid: record['merge_commit_sha'],
    squash_commit_oid: record['squash_commit_sha'],
    merged_by: to.userOf(metrics['merged_by_id']),
    merged_at: timeOf(metrics['merged_at']),
    closed_by: to.userOf(metrics['latest_closed_by_id']),
    closed_at: timeOf(metrics['latest_closed_at']),
  }
}

/** Later releases have them, too. */
async function addReviews(to: Converter, line: number, record: Nested): Promise<void> {
  for (const { user_id } of listIn(record, 'merge_request_reviewers'))
    await to.add('merge_request_reviewers', { merge_request: line, user: to.userOf(user_id) })
  for (const approval of listIn(record, 'approvals'))
    await to.add('merge_request_approvals', {
      merge_request: line,
      user: to.userOf(approval['user_id']),
      created_at: timeOf(approval['created_at']),
    })
}

/** A version that exceeds a limit has the name of the limit after the second of these. */
const versionStates = ['collected', 'overflow', 'without_files'] as const

/** The archive has the latest version only. */
async function addVersion(to: Converter, line: number, record: Nested): Promise<void> {
  const diff = oneIn(record, 'merge_request_diff')
  if (!diff) return
  const list = listIn(diff, 'merge_request_diff_commits')
  const version = await to.add('merge_request_diffs', {
    merge_request: line,
    state: versionStates.find((state) => String(scalar(diff['state'])).startsWith(state)) ?? 'empty',
    head_oid: diff['head_commit_sha'] ?? record['diff_head_sha'],
    start_oid: diff['start_commit_sha'],
    base_oid: diff['base_commit_sha'],
    files: listIn(diff, 'merge_request_diff_files').length,
    commits: list.length,
    created_at: timeOf(diff['created_at']) ?? timeOf(record['created_at']),
  })
  if (version === undefined) return
  for (const [position, commit] of list.entries())
    await to.add('merge_request_commits', { diff: version, position, oid: commit['sha'] })
}
