import type { Event } from '../../../events/log.ts'

/** Types of what an event is about. */
export const targetTypes = [
  'Project',
  'Repository',
  'Issue',
  'MergeRequest',
  'Epic',
  'Note',
  'Label',
  'Milestone',
  'Group',
  'Member',
  'User',
] as const

/** Types of what a note or a member is on. */
export const onTypes = ['Issue', 'MergeRequest', 'Epic', 'Project', 'Group'] as const

/** Rows whose readers may read an event. Those of a project or group with issues, merge requests or epics may read what was deleted. */
export const placeKinds = [
  'Project',
  'Repository',
  'Issue',
  'MergeRequest',
  'Epic',
  'Group',
  'IssuesOf',
  'ConfidentialIssuesOf',
  'MergeRequestsOf',
  'EpicsOf',
  'ConfidentialEpicsOf',
] as const
export type PlaceKind = (typeof placeKinds)[number]

/** Who may read an event: the readers of a row, an account, or those who could see a deleted project or group. */
export type Readers =
  | { readonly of: PlaceKind; readonly id: number }
  | { readonly of: 'Account'; readonly id: number }
  | {
      readonly of: 'Gone'
      readonly namespaceId: number | null
      readonly visibility: number
      readonly actorId: number | null
    }

/** What an event of the change feed is about, and who may read it. */
export type Target = {
  readonly type: (typeof targetTypes)[number]
  readonly id: number
  /** Of a note or a member: what it is on. */
  readonly on?: { readonly type: (typeof onTypes)[number]; readonly id: number }
  readonly readers: Readers
}

type About = (event: Event) => Target | undefined

const fieldsOf = ({ payload }: Event) => payload as Readonly<Record<string, unknown>>

const numberIn = (event: Event, field: string): number => Number(fieldsOf(event)[field])

const project: About = ({ projectId: id }) =>
  id === null ? undefined : { type: 'Project', id, readers: { of: 'Project', id } }

const repository: About = ({ projectId: id }) =>
  id === null ? undefined : { type: 'Repository', id, readers: { of: 'Repository', id } }

const group: About = ({ groupId: id }) =>
  id === null ? undefined : { type: 'Group', id, readers: { of: 'Group', id } }

const planned =
  (type: 'Issue' | 'MergeRequest' | 'Epic', field: string): About =>
  (event) => {
    const id = numberIn(event, field)
    return { type, id, readers: { of: type, id } }
  }
const issue = planned('Issue', 'issue_id')
const mergeRequest = planned('MergeRequest', 'merge_request_id')
const epic = planned('Epic', 'epic_id')

/** The readers of other issues of the project; those of confidential ones, unless the event says that it was not. */
const deletedIssue: About = (event) => {
  const { projectId: id } = event
  const of = fieldsOf(event)['confidential'] === false ? 'IssuesOf' : 'ConfidentialIssuesOf'
  return id === null ? undefined : { type: 'Issue', id: numberIn(event, 'issue_id'), readers: { of, id } }
}

/** As of a deleted issue. */
const deletedEpic: About = (event) => {
  const { groupId: id } = event
  const of = fieldsOf(event)['confidential'] === false ? 'EpicsOf' : 'ConfidentialEpicsOf'
  return id === null ? undefined : { type: 'Epic', id: numberIn(event, 'epic_id'), readers: { of, id } }
}

const deletedMergeRequest: About = (event) => {
  const { projectId: id } = event
  if (id === null) return undefined
  return { type: 'MergeRequest', id: numberIn(event, 'merge_request_id'), readers: { of: 'MergeRequestsOf', id } }
}

/** What a note or discussion is on; `undefined` for commits and snippets. */
function noteableOf(
  event: Event,
): { readonly type: 'Issue' | 'MergeRequest' | 'Epic'; readonly id: number } | undefined {
  const type = fieldsOf(event)['noteable_type']
  if (type !== 'Issue' && type !== 'MergeRequest' && type !== 'Epic') return undefined
  return { type, id: numberIn(event, 'noteable_id') }
}

const note: About = (event) => {
  const on = noteableOf(event)
  return on && { type: 'Note', id: numberIn(event, 'note_id'), on, readers: { of: on.type, id: on.id } }
}

/** What a discussion is on: its notes change together, and what it is on says whether all are resolved. */
const discussed: About = (event) => {
  const on = noteableOf(event)
  return on && { ...on, readers: { of: on.type, id: on.id } }
}

/** A label or milestone, which readers of its project or group may read. */
const classifying =
  (type: 'Label' | 'Milestone', field: string): About =>
  (event) => {
    const held = (project(event) ?? group(event))?.readers
    return held && { type, id: numberIn(event, field), readers: held }
  }
const label = classifying('Label', 'label_id')
const milestone = classifying('Milestone', 'milestone_id')

const member: About = (event) => {
  const held = (project(event) ?? group(event))?.readers
  if (held?.of !== 'Project' && held?.of !== 'Group') return undefined
  return { type: 'Member', id: numberIn(event, 'user_id'), on: { type: held.of, id: held.id }, readers: held }
}

const user: About = (event) => {
  const id = numberIn(event, 'user_id')
  return { type: 'User', id, readers: { of: 'Account', id } }
}

/** Of a deleted project or group: what the event says of where it was. Older events do not, and are private. */
const gone =
  (type: 'Project' | 'Group', of: 'projectId' | 'groupId', holder: 'namespace_id' | 'parent_id'): About =>
  (event) => {
    const id = event[of]
    const { [holder]: namespaceId, visibility } = fieldsOf(event)
    if (id === null) return undefined
    const readers = {
      of: 'Gone',
      namespaceId: typeof namespaceId === 'number' ? namespaceId : null,
      visibility: typeof visibility === 'number' ? visibility : 0,
      actorId: event.actorId,
    } as const
    return { type, id, readers }
  }

/** The events of the change feed. Every kind needs a rule for who may read it: one that is not listed is shown to no caller. */
const targets: Readonly<Record<string, About>> = {
  project_created: project,
  project_renamed: project,
  project_updated: project,
  project_archived: project,
  project_unarchived: project,
  project_transferred: project,
  project_marked_for_deletion: project,
  project_restored: project,
  project_imported: project,
  project_import_failed: project,
  project_shared: project,
  project_unshared: project,
  fork_linked: project,
  fork_unlinked: project,
  project_deleted: gone('Project', 'projectId', 'namespace_id'),
  pushed: repository,
  issue_opened: issue,
  issue_updated: issue,
  issue_closed: issue,
  issue_reopened: issue,
  issue_deleted: deletedIssue,
  merge_request_opened: mergeRequest,
  merge_request_updated: mergeRequest,
  merge_request_closed: mergeRequest,
  merge_request_reopened: mergeRequest,
  merge_request_merged: mergeRequest,
  suggestion_applied: mergeRequest,
  merge_request_approved: mergeRequest,
  merge_request_unapproved: mergeRequest,
  merge_request_deleted: deletedMergeRequest,
  epic_opened: epic,
  epic_updated: epic,
  epic_closed: epic,
  epic_reopened: epic,
  epic_deleted: deletedEpic,
  note_created: note,
  note_updated: note,
  note_deleted: note,
  discussion_resolved: discussed,
  discussion_unresolved: discussed,
  label_created: label,
  label_updated: label,
  label_deleted: label,
  label_promoted: label,
  milestone_created: milestone,
  milestone_updated: milestone,
  milestone_closed: milestone,
  milestone_reopened: milestone,
  milestone_deleted: milestone,
  milestone_promoted: milestone,
  member_added: member,
  member_updated: member,
  member_removed: member,
  group_created: group,
  group_updated: group,
  group_transferred: group,
  group_marked_for_deletion: group,
  group_restored: group,
  group_shared: group,
  group_unshared: group,
  group_deleted: gone('Group', 'groupId', 'parent_id'),
  user_created: user,
  user_updated: user,
  user_email_confirmed: user,
  user_email_removed: user,
  user_password_changed: user,
  user_identity_removed: user,
  two_factor_enabled: user,
  two_factor_disabled: user,
  user_blocked: user,
  user_unblocked: user,
  user_deactivated: user,
  user_activated: user,
  user_banned: user,
  user_unbanned: user,
  user_deleted: user,
}

export const shownKinds: readonly string[] = Object.keys(targets)

/** What an event is about; `undefined` if the change feed does not show it. */
export const targetOf = (event: Event): Target | undefined => targets[event.kind]?.(event)
