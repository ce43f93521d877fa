import type { Event } from '../../../events/log.ts'

/** What an event of the change feed is about. */
export type Target = {
  readonly type: 'Project' | 'Repository' | 'Issue' | 'MergeRequest' | 'Note'
  readonly id: number
  /** Of a note: what it is on. */
  readonly on?: { readonly type: 'Issue' | 'MergeRequest'; readonly id: number }
}

const project = ({ projectId }: Event): Target | undefined =>
  projectId === null ? undefined : { type: 'Project', id: projectId }

const repository = ({ projectId }: Event): Target | undefined =>
  projectId === null ? undefined : { type: 'Repository', id: projectId }

const issue = ({ payload }: Event): Target | undefined => numbered('Issue', payload, 'issue_id')
const mergeRequest = ({ payload }: Event): Target | undefined => numbered('MergeRequest', payload, 'merge_request_id')

function note({ payload }: Event): Target | undefined {
  const { note_id, noteable_type: type, noteable_id } = payload as Readonly<Record<string, unknown>>
  if (type !== 'Issue' && type !== 'MergeRequest') return undefined
  return { type: 'Note', id: Number(note_id), on: { type, id: Number(noteable_id) } }
}

const numbered = (type: Target['type'], payload: object, field: string): Target => ({
  type,
  id: Number((payload as Readonly<Record<string, unknown>>)[field]),
})

/**
 * The events of the change feed. Every kind needs a rule for who may read it: an event whose kind is not listed is shown to no
 * caller. Of deleted records nothing remains that tells who could read them.
 */
const targets: Readonly<Record<string, (event: Event) => Target | undefined>> = {
  project_created: project,
  project_renamed: project,
  project_updated: project,
  project_archived: project,
  project_unarchived: project,
  project_transferred: project,
  pushed: repository,
  issue_opened: issue,
  issue_updated: issue,
  issue_closed: issue,
  issue_reopened: issue,
  merge_request_opened: mergeRequest,
  merge_request_updated: mergeRequest,
  merge_request_closed: mergeRequest,
  merge_request_reopened: mergeRequest,
  merge_request_merged: mergeRequest,
  merge_request_approved: mergeRequest,
  merge_request_unapproved: mergeRequest,
  note_created: note,
  note_updated: note,
}

export const shownKinds: readonly string[] = Object.keys(targets)

/** What an event is about; `undefined` if the change feed does not show it. */
export const targetOf = (event: Event): Target | undefined => targets[event.kind]?.(event)
