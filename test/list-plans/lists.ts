import type { Caller } from '../../src/access/actor.ts'
import type { List } from '../../src/api/list.ts'
import { listIssues } from '../../src/modules/planning/issue-lists/queries.ts'
import { listProjects, type ProjectFilters } from '../../src/modules/projects/projects/list-queries.ts'
import { listMergeRequests } from '../../src/modules/review/reading/list-queries.ts'

export const projects = (caller: Caller, filters: Partial<ProjectFilters>): List =>
  listProjects(caller, { of: 'everyone' }, { order_by: 'created_at', sort: 'desc', ...filters }, 'stamps')

export const newest = { by: 'created_at', sort: 'desc' } as const

export type NoteableType = 'Issue' | 'MergeRequest'

/** The table, the type, and the list of each kind. */
export const noteableKinds = [
  ['issues', 'Issue', listIssues],
  ['merge_requests', 'MergeRequest', listMergeRequests],
] as const
