import type { Caller } from '../../../access/actor.ts'
import { byKey, type Db, ofPage } from '../../../db/db.ts'
import {
  boolean,
  integer,
  json,
  notNull,
  nullable,
  oneOf,
  type RowOf,
  text,
  textOf,
  timestamp,
} from '../../../db/row.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson, userReferenceOf } from '../../accounts/index.ts'
import { newestPipelineIdSql, newestStatusSql, type Status, statuses } from '../../ci/index.ts'
import { joinVotes, subscribedSql, timeSpentSql, unresolvedSql } from '../../discussion/index.ts'
import { composedForCaller } from '../../namespaces/index.ts'
import { type AssignedLabelRow, labelsJson, type MilestoneRow, milestoneJson } from '../../planning/index.ts'
import { settingDefaults } from '../../projects/index.ts'
import { isApprovedSql } from './approval-queries.ts'
import { mergeRequestStates, mergeStatuses } from './states.ts'

/** Columns of the record of a merge request. */
export const mergeRequestRecordRow = {
  id: integer,
  iid: integer,
  /** The target project. */
  project_id: integer,
  full_path: text,
  repository_storage: text,
  repository_key: text,
  target_branch: text,
  source_project_id: nullable(integer),
  source_branch: text,
  title: text,
  description: nullable(text),
  state: oneOf(...mergeRequestStates),
  merge_status: oneOf(...mergeStatuses),
  merge_error: nullable(text),
  discussion_locked: nullable(boolean),
  squash: boolean,
  allow_collaboration: boolean,
  should_remove_source_branch: nullable(boolean),
  force_remove_source_branch: nullable(boolean),
  approvals_before_merge: nullable(integer),
  merge_commit_oid: nullable(textOf<Oid>()),
  squash_commit_oid: nullable(textOf<Oid>()),
  merged_at: nullable(timestamp),
  closed_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  /** An automatic merge is enabled. */
  auto_merge: boolean,
  rebasing: boolean,
  /** Of the newest version. */
  head_oid: nullable(textOf<Oid>()),
  start_oid: nullable(textOf<Oid>()),
  base_oid: nullable(textOf<Oid>()),
  files: notNull(integer),
  overflow: notNull(boolean),
  author: json<UserReferenceRow>(),
  /** Who merged it, or has it merged when the pipeline succeeds. */
  merge_user: nullable(json<UserReferenceRow>()),
  closed_by: nullable(json<UserReferenceRow>()),
  assignees: json<UserReferenceRow[]>(),
  reviewers: json<UserReferenceRow[]>(),
  labels: json<AssignedLabelRow[]>(),
  milestone: nullable(json<MilestoneRow>()),
  upvotes: integer,
  downvotes: integer,
  user_notes_count: integer,
  commits: notNull(integer),
  /** The last check found that a branch is missing. */
  lacks_branch: boolean,
  /** The merge method requires commits of the target branch that the source branch lacked at the last check. */
  needs_rebase: boolean,
  /** Status of the newest pipeline of the head if it must succeed; null without one. */
  required_pipeline: nullable(oneOf<Status>(...statuses)),
  needs_resolution: boolean,
  /** It has as many approvals as it requires. */
  approved: boolean,
  /** A discussion is unresolved. */
  unresolved: boolean,
  time_estimate: integer,
  total_time_spent: integer,
  /** The caller is subscribed. */
  subscribed: boolean,
}
export type MergeRequestRecordRow = RowOf<typeof mergeRequestRecordRow>

const people = (table: string): Sql => sql`
  (
    select coalesce(json_agg(${userReferenceJson('u')} order by u.id), '[]')
    from ${raw(table)} a join users u on u.id = a.user_id
    where a.merge_request_id = m.id
  )
`

const type = 'MergeRequest'

/** Of a row named `m` with its newest version `d`, its project `p` and its milestone `ms`. */
const columns = sql`
  m.id, m.iid, m.project_id, p.full_path, p.repository_storage, p.repository_key, m.target_branch, m.source_project_id,
  m.source_branch, m.title, m.description, m.state, m.merge_status, m.merge_error, m.discussion_locked,
  coalesce((m.auto_merge_options ->> 'squash')::boolean, m.squash) as squash, m.allow_collaboration,
  coalesce(
    (m.auto_merge_options ->> 'should_remove_source_branch')::boolean, m.should_remove_source_branch
  ) as should_remove_source_branch,
  m.force_remove_source_branch, m.approvals_before_merge, m.merge_commit_oid, m.squash_commit_oid, m.merged_at,
  m.closed_at, m.created_at, m.updated_at, m.auto_merge_oid is not null as auto_merge, m.rebasing, d.head_oid,
  d.start_oid, d.base_oid, d.files, d.overflow, d.commits, m.merge_status = 'cannot_be_merged'
  and (m.merge_status_source_oid is null or m.merge_status_target_oid is null) as lacks_branch, m.lacks_target
  and coalesce(p.settings ->> 'merge_method', ${settingDefaults.merge_method}::text) <> 'merge' as needs_rebase,
  case
    when coalesce(
      (p.settings ->> 'only_allow_merge_if_pipeline_succeeds')::boolean,
      ${settingDefaults.only_allow_merge_if_pipeline_succeeds}
    ) then ${newestStatusSql(raw('m.source_project_id'), raw('d.head_oid'), raw('m.source_branch'))}
  end as required_pipeline,
  coalesce(
    (p.settings ->> 'only_allow_merge_if_all_discussions_are_resolved')::boolean,
    ${settingDefaults.only_allow_merge_if_all_discussions_are_resolved}
  ) as needs_resolution,
  ${isApprovedSql} as approved, ${userReferenceOf('m.author_id')} as author,
  ${userReferenceOf('coalesce(m.merged_by_id, m.auto_merge_user_id)')} as merge_user,
  ${userReferenceOf('m.closed_by_id')} as closed_by, ${people('merge_request_assignees')} as assignees,
  ${people('merge_request_reviewers')} as reviewers, ${labelsJson('MergeRequest', raw('m.id'))} as labels,
  ${milestoneJson('ms')} as milestone, votes.up as upvotes, votes.down as downvotes,
  (select count(*)::integer from notes n where n.merge_request_id = m.id and not n.system) as user_notes_count,
  ${unresolvedSql(type, raw('m.id'))} as unresolved, m.time_estimate,
  ${timeSpentSql(type, raw('m.id'))} as total_time_spent
`

const tables = sql`
  from merge_requests m
    join projects p on p.id = m.project_id
    left join merge_request_diffs d on d.id = m.diff_id
    left join milestones ms on ms.id = m.milestone_id ${joinVotes(type)}
`

/** `select … from merge_requests m …` for records, with `more` columns. */
export const recordSelect = (caller: Caller, more: Sql = empty): Sql =>
  sql`select ${columns}, ${subscribedSql(caller, type, raw('m'))} as subscribed ${more} ${tables}`

/** Statements for some records, each of which is cached by itself. */
export const cachedRecords = composedForCaller(
  (caller, ids: readonly number[]) => sql`${recordSelect(caller)} where m.id = any(${ids}::bigint[])`,
)

/** Projects and groups on whose rows the row of a record depends: pipelines are those of the source. */
export const holdersOfMergeRequest = (row: MergeRequestRecordRow) => ({
  projects: [row.project_id, row.source_project_id],
  groups: [row.milestone?.namespace_id ?? null, ...row.labels.map(({ namespace_id }) => namespace_id)],
  mergeRequests: [row.id],
})

const detailRow = {
  ...mergeRequestRecordRow,
  /** The newest pipeline of the head on its branch, whether or not the caller may read it. */
  head_pipeline_id: nullable(integer),
}

const headPipelineId = newestPipelineIdSql(raw('m.source_project_id'), raw('d.head_oid'), raw('m.source_branch'))

const detailed = composedForCaller(
  (caller, id: number) => sql`${recordSelect(caller, sql`, ${headPipelineId} as head_pipeline_id`)} where m.id = ${id}`,
)

/** One merge request with the columns of its detail record. */
export const findRecord = (db: Db, caller: Caller, id: number): Promise<RowOf<typeof detailRow> | undefined> =>
  db.snapshotCache.row(detailRow, byKey(detailed(caller, id)), holdersOfMergeRequest)

/** The same for several, unordered. */
export const findRecords = (db: Db, caller: Caller, ids: readonly number[]): Promise<MergeRequestRecordRow[]> =>
  db.rows(mergeRequestRecordRow, ofPage(sql`${recordSelect(caller)} where m.id = any(${ids}::bigint[])`))
