import type { Caller } from '../../../access/actor.ts'
import type { Direction, List } from '../../../api/list.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import {
  byUsers,
  filtered,
  havingUsers,
  leavesFew,
  lookedUp,
  type Narrowing,
  type NoteableFilters,
  type NoteableSet,
  namesFew,
  narrowing,
  reach,
  type UserFilter,
} from '../../planning/index.ts'
import { approvedBy, approvedWanted, type PeopleFilter } from '../approvals/queries.ts'
import { cachedRecords, holdersOfMergeRequest } from '../merge-requests/record-queries.ts'
import type { MergeRequestState } from '../merge-requests/states.ts'
import { draftPattern } from '../merge-requests/title.ts'

export const mergeRequestOrders = ['created_at', 'updated_at'] as const

export type MergeRequestFilters = NoteableFilters & {
  readonly state?: MergeRequestState
  readonly reviewer?: UserFilter
  readonly approvers?: PeopleFilter
  readonly approvedBy?: PeopleFilter
  readonly sourceBranch?: string
  readonly targetBranch?: string
  readonly sourceProjectId?: number
  readonly draft?: boolean
  readonly ids?: readonly number[]
  /** The newest version contains this commit, or it is the commit of the merge. */
  readonly commit?: Oid
}

export type MergeRequestOrder = { readonly by: (typeof mergeRequestOrders)[number]; readonly sort: Direction }

const type = 'MergeRequest'

/** The newest version contains the commit, or it is the commit of the merge. */
const withCommit = (commit: Oid): Sql => sql`
  m.id = any(
    array(
      select n.id from merge_request_commits c join merge_requests n on n.diff_id = c.diff_id where c.oid = ${commit}
      union select n.id from merge_requests n where n.merge_commit_oid = ${commit}
      union select n.id from merge_requests n where n.squash_commit_oid = ${commit}
    )
  )
`

function conditions(caller: Caller, f: MergeRequestFilters): Sql[] {
  const where = filtered(type, caller, f)
  if (f.reviewer !== undefined) where.push(byUsers(type, raw('merge_request_reviewers'), f.reviewer))
  if (f.approvers !== undefined) where.push(approvedWanted(f.approvers))
  if (f.approvedBy !== undefined) where.push(approvedBy(f.approvedBy))
  if (f.sourceBranch !== undefined) where.push(sql`m.source_branch = ${f.sourceBranch}`)
  if (f.targetBranch !== undefined) where.push(sql`m.target_branch = ${f.targetBranch}`)
  if (f.sourceProjectId !== undefined) where.push(sql`m.source_project_id = ${f.sourceProjectId}`)
  if (f.draft !== undefined) where.push(sql`(m.title ~* ${draftPattern}) = ${f.draft}`)
  if (f.ids !== undefined) where.push(sql`m.id = any(${f.ids}::bigint[])`)
  if (f.commit) where.push(withCommit(f.commit))
  return where
}

const isFew = (f: MergeRequestFilters, set: NoteableSet): boolean =>
  leavesFew(f, set) ||
  [f.sourceBranch, f.sourceProjectId, f.commit, f.ids].some((filter) => filter !== undefined) ||
  namesFew(f.reviewer, set) ||
  namesFew(f.approvedBy, set)

const narrowed = (f: MergeRequestFilters): Narrowing | undefined => {
  if (f.reviewer === 'Any') return havingUsers(type, raw('merge_request_reviewers'))
  return f.approvedBy === 'Any' ? havingUsers(type, raw('approvals')) : narrowing(type, f)
}

/** Merge requests that the caller may read, newest first unless `sort` is set; ties by id, newest first. */
export function listMergeRequests(
  caller: Caller,
  set: NoteableSet,
  filters: MergeRequestFilters,
  { by, sort }: MergeRequestOrder,
): List {
  const { labels, search, updated, others } = lookedUp(filters)
  return {
    type,
    cached: true,
    rowsById: { statementOf: (ids) => cachedRecords(caller, ids), holdersOf: holdersOfMergeRequest },
    ofProject: set.of === 'project' ? set.id : undefined,
    ...reach({
      type,
      caller,
      set,
      filters: conditions(caller, others),
      few: isFew(filters, set),
      indexed: narrowed(filters),
      order: by === 'created_at' ? 'created' : 'updated',
      labels,
      search,
      updated,
      state: filters.state,
    }),
    key: raw('m.id'),
    order: [
      { by: raw(`m.${by}`), direction: sort },
      { by: raw('m.id'), direction: 'desc' },
    ],
  }
}
