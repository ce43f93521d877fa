import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { awardsSql, subscribedSql, timeSpentSql, unresolvedSql } from '../../discussion/index.ts'
import { type LabelReferenceRow, labelsJson, type MilestoneRow, milestoneJson } from '../../planning/index.ts'
import type { MergeRequestState, MergeStatus } from './queries.ts'

/** Columns of the record of a merge request. */
export type MergeRequestRecordRow = {
  readonly id: number
  readonly iid: number
  /** The target project. */
  readonly project_id: number
  readonly full_path: string
  readonly repository_storage: string
  readonly repository_key: string
  readonly target_branch: string
  readonly source_project_id: number | null
  readonly source_branch: string
  readonly title: string
  readonly description: string | null
  readonly state: MergeRequestState
  readonly merge_status: MergeStatus
  readonly merge_error: string | null
  readonly discussion_locked: boolean | null
  readonly squash: boolean
  readonly allow_collaboration: boolean
  readonly should_remove_source_branch: boolean | null
  readonly force_remove_source_branch: boolean | null
  readonly approvals_before_merge: number | null
  readonly merge_commit_oid: Oid | null
  readonly squash_commit_oid: Oid | null
  readonly merged_at: Timestamp | null
  readonly closed_at: Timestamp | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  /** An automatic merge is enabled. */
  readonly auto_merge: boolean
  readonly rebasing: boolean
  /** Of the newest version. */
  readonly head_oid: Oid | null
  readonly start_oid: Oid | null
  readonly base_oid: Oid | null
  readonly files: number
  readonly overflow: boolean
  readonly author: UserReferenceRow
  readonly merged_by: UserReferenceRow | null
  readonly closed_by: UserReferenceRow | null
  readonly assignees: readonly UserReferenceRow[]
  readonly labels: readonly LabelReferenceRow[]
  readonly milestone: MilestoneRow | null
  readonly upvotes: number
  readonly downvotes: number
  readonly user_notes_count: number
  /** A discussion is unresolved. */
  readonly unresolved: boolean
  readonly time_estimate: number
  readonly total_time_spent: number
  /** The caller is subscribed. */
  readonly subscribed: boolean
}

const person = (column: string): Sql =>
  sql`(select ${userReferenceJson('u')} from users u where u.id = ${raw(`m.${column}`)})`

const type = 'MergeRequest'

const awarded = (name: string): Sql => awardsSql(type, raw('m.id'), name)

/** Of a row named `m` with its newest version `d`, its project `p` and its milestone `ms`. */
const columns = sql`m.id, m.iid, m.project_id, p.full_path, p.repository_storage, p.repository_key, m.target_branch, m.source_project_id, m.source_branch, m.title, m.description,
  m.state, m.merge_status, m.merge_error, m.discussion_locked, m.squash, m.allow_collaboration, m.should_remove_source_branch,
  m.force_remove_source_branch, m.approvals_before_merge, m.merge_commit_oid, m.squash_commit_oid, m.merged_at, m.closed_at,
  m.created_at, m.updated_at, m.auto_merge_oid is not null as auto_merge, m.rebasing, d.head_oid, d.start_oid, d.base_oid, d.files,
  d.overflow, ${person('author_id')} as author, ${person('merged_by_id')} as merged_by, ${person('closed_by_id')} as closed_by,
  (select coalesce(json_agg(${userReferenceJson('u')} order by u.id), '[]') from merge_request_assignees a
    join users u on u.id = a.user_id where a.merge_request_id = m.id) as assignees,
  ${labelsJson(raw('m.id'))} as labels, ${milestoneJson('ms')} as milestone,
  ${awarded('thumbsup')} as upvotes, ${awarded('thumbsdown')} as downvotes,
  (select count(*)::integer from notes n where n.merge_request_id = m.id and not n.system) as user_notes_count,
  ${unresolvedSql(type, raw('m.id'))} as unresolved, m.time_estimate, ${timeSpentSql(type, raw('m.id'))} as total_time_spent`

const tables = raw(`from merge_requests m join projects p on p.id = m.project_id
  left join merge_request_diffs d on d.id = m.diff_id left join milestones ms on ms.id = m.milestone_id`)

/** `select … from merge_requests m …` for records. */
export const recordSelect = (caller: Caller): Sql =>
  sql`select ${columns}, ${subscribedSql(caller, type, raw('m'))} as subscribed ${tables}`

/** One merge request with the columns of its detail record. */
export const findRecord = (db: Db, caller: Caller, id: number): Promise<MergeRequestRecordRow | undefined> =>
  db.row<MergeRequestRecordRow>(sql`${recordSelect(caller)} where m.id = ${id}`)

/** The same for several, unordered. */
export const findRecords = (db: Db, caller: Caller, ids: readonly number[]): Promise<MergeRequestRecordRow[]> =>
  db.rows<MergeRequestRecordRow>(sql`${recordSelect(caller)} where m.id = any(${ids}::bigint[])`)
