import type { Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type LabelReferenceRow, labelsJson } from '../../planning/index.ts'
import type { MergeRequestState, MergeStatus } from './queries.ts'

/** Attributes of a merge request by which an edit detects changes. */
export type MergeRequestFacts = {
  readonly id: number
  readonly iid: number
  readonly target_project_id: number
  readonly target_branch: string
  readonly source_project_id: number | null
  readonly source_branch: string
  readonly title: string
  readonly description: string | null
  readonly state: MergeRequestState
  readonly merge_status: MergeStatus
  readonly merge_commit_oid: Oid | null
  readonly merge_error: string | null
  readonly author_id: number
  readonly assignee_ids: readonly number[]
  readonly labels: readonly LabelReferenceRow[]
  readonly milestone_id: number | null
  readonly discussion_locked: boolean | null
  readonly squash: boolean
  readonly force_remove_source_branch: boolean | null
  readonly allow_collaboration: boolean
  readonly head_oid: Oid | null
  readonly time_estimate: number
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export const readFacts = async (tx: Tx, id: number): Promise<MergeRequestFacts> =>
  (await tx.row<MergeRequestFacts>(sql`
    select m.id, m.iid, m.project_id as target_project_id, m.target_branch, m.source_project_id, m.source_branch, m.title,
      m.description, m.state, m.merge_status, m.merge_commit_oid, m.merge_error, m.author_id,
      array(select a.user_id from merge_request_assignees a where a.merge_request_id = m.id order by a.user_id) as assignee_ids,
      ${labelsJson(raw('m.id'))} as labels, m.milestone_id, m.discussion_locked, m.squash, m.force_remove_source_branch,
      m.allow_collaboration, d.head_oid, m.time_estimate,
      m.created_at, m.updated_at
    from merge_requests m left join merge_request_diffs d on d.id = m.diff_id where m.id = ${id}`))!

/** Title and number of a merge request, and its project. */
export const readTitle = async (tx: Tx, id: number): Promise<{ project_id: number; iid: number; title: string }> =>
  (await tx.row<{ project_id: number; iid: number; title: string }>(
    sql`select project_id, iid, title from merge_requests where id = ${id}`,
  ))!
