import { isPosition } from '../../discussion/index.ts'
import type { Converter } from './converter.ts'
import { colorOf, hexOf, isObject, listIn, type Nested, oneIn, pick, scalar, timeOf, timesOf } from './values.ts'

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

/** Adds an issue or merge request with everything that belongs to it. */
export async function convertNoteable(
  noteables: Noteables,
  kind: 'issue' | 'merge_request',
  record: Nested,
): Promise<void> {
  const { to } = noteables
  const common = {
    ...pick(record, 'iid', 'title', 'description', 'discussion_locked'),
    author: to.userOf(record['author_id']),
    time_estimate: record['time_estimate'] ?? 0,
    milestone: await noteableMilestone(noteables, oneIn(record, 'milestone')),
    ...timesOf(record),
  }
  const line = await to.add(`${kind}s`, {
    ...common,
    ...(kind === 'issue' ? ofIssue(to, record) : ofRequest(to, record)),
  })
  if (line === undefined) return
  if (kind === 'merge_request') await addVersion(to, line, record)
  await convertSurroundings(to, { kind, line, labelOf: (label) => noteableLabel(noteables, label) }, record)
}

/** Whose records are added, and how the line of a nested label is found. */
export type Surrounded = {
  readonly kind: 'issue' | 'merge_request' | 'snippet' | 'epic'
  readonly line: number
  readonly labelOf: (label: Nested) => Promise<number | undefined>
}

/** Adds the labels, events, awards, notes, time and assignees of an issue, merge request, snippet or epic. */
export async function convertSurroundings(
  to: Converter,
  { kind, line, labelOf }: Surrounded,
  record: Nested,
): Promise<void> {
  const noteable = { [kind]: line }
  for (const link of listIn(record, 'label_links')) {
    const label = isObject(link['label']) ? await labelOf(link['label']) : undefined
    if (label !== undefined) await to.add(`${kind}_labels`, { ...noteable, label })
  }
  for (const event of listIn(record, 'resource_label_events')) {
    const label = isObject(event['label']) ? await labelOf(event['label']) : undefined
    const action = event['action'] === 1 ? 'add' : event['action'] === 2 ? 'remove' : event['action']
    const author = to.userOf(event['user_id'])
    await to.add(`${kind}_label_events`, {
      ...noteable,
      label,
      author,
      action,
      created_at: timeOf(event['created_at']),
    })
  }
  for (const log of listIn(record, 'timelogs')) {
    const created_at = timeOf(log['created_at'])
    await to.add(`${kind}_time_logs`, {
      ...noteable,
      author: to.userOf(log['user_id']),
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
    force_remove_source_branch: removesSource === undefined ? undefined : ['1', 'true'].includes(String(removesSource)),
    merge_commit_oid: record['merge_commit_sha'],
    squash_commit_oid: record['squash_commit_sha'],
    merged_by: to.userOf(metrics['merged_by_id']),
    merged_at: timeOf(metrics['merged_at']),
    closed_by: to.userOf(metrics['latest_closed_by_id']),
    closed_at: timeOf(metrics['latest_closed_at']),
  }
}

/** The archive has the latest version only. */
async function addVersion(to: Converter, line: number, record: Nested): Promise<void> {
  const diff = oneIn(record, 'merge_request_diff')
  if (!diff) return
  const list = listIn(diff, 'merge_request_diff_commits')
  const version = await to.add('merge_request_diffs', {
    merge_request: line,
    state: diff['state'] === 'collected' || diff['state'] === 'overflow' ? diff['state'] : 'empty',
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

async function addAward(to: Converter, kind: string, about: Nested, award: Nested): Promise<void> {
  await to.add(`${kind}_awards`, {
    ...about,
    author: to.userOf(award['user_id']),
    name: award['name'],
    ...timesOf(award),
  })
}

async function addNote(to: Converter, kind: string, noteable: Nested, note: Nested): Promise<void> {
  const system = note['system'] === true
  const discussion = note['discussion_id']
  const position = positionOf(note['original_position'] ?? note['position'])
  const resolved = timeOf(note['resolved_at'])
  const line = await to.add(`${kind}_notes`, {
    ...noteable,
    author: to.userOf(note['author_id'], oneIn(note, 'author')?.['name']),
    discussion_id:
      typeof discussion === 'string' && /^[0-9a-f]{40}$/.test(discussion)
        ? discussion
        : hexOf(
            JSON.stringify([
              kind,
              noteable,
              scalar(discussion ?? note['id'] ?? note['created_at']),
              scalar(note['note']),
            ]),
          ),
    threaded: !system && (position !== undefined || note['type'] === 'DiscussionNote' || note['type'] === 'DiffNote'),
    system,
    note: note['note'],
    ...(!system && { position }),
    resolved_at: resolved,
    resolved_by: resolved && to.userOf(note['resolved_by_id']),
    ...timesOf(note),
  })
  if (line === undefined) return
  for (const award of listIn(note, 'award_emoji')) await addAward(to, kind, { ...noteable, note: line }, award)
}

/** A position is JSON within JSON. One that we cannot show is left out, the note stays. */
function positionOf(value: unknown): Nested | undefined {
  let position = value
  if (typeof value === 'string' && value.length <= 10_000)
    try {
      position = JSON.parse(value)
    } catch {
      return undefined
    }
  if (!isObject(position)) return undefined
  const ends = pick(position, 'base_sha', 'start_sha', 'head_sha', 'old_path', 'new_path', 'position_type')
  const shown =
    position['position_type'] === 'image'
      ? { ...ends, ...pick(position, 'width', 'height', 'x', 'y') }
      : { ...ends, old_line: position['old_line'] ?? null, new_line: position['new_line'] ?? null }
  return isPosition(shown) ? shown : undefined
}
