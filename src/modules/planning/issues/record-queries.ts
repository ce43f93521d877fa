import type { Caller } from '../../../access/actor.ts'
import { byKey, type Db, ofPage } from '../../../db/db.ts'
import {
  boolean,
  date,
  integer,
  json,
  nullable,
  oneOf,
  optional,
  type RowOf,
  text,
  timestamp,
} from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson, userReferenceOf } from '../../accounts/index.ts'
import { joinVotes, subscribedSql, timeSpentSql } from '../../discussion/index.ts'
import { composedForCaller } from '../../namespaces/index.ts'
import { type EpicReferenceRow, epicOfIssueJson } from '../epic-links/queries.ts'
import { type AssignedLabelRow, labelsJson } from '../labels/queries.ts'
import { type MilestoneRow, milestoneJson } from '../milestones/queries.ts'
import { closingCount, closingProjects } from './closing-queries.ts'
import { issueStates } from './states.ts'

/** Columns of the record of an issue. */
export const issueRecordRow = {
  id: integer,
  iid: integer,
  project_id: integer,
  full_path: text,
  title: text,
  description: nullable(text),
  state: oneOf(...issueStates),
  confidential: boolean,
  discussion_locked: nullable(boolean),
  due_date: nullable(date),
  weight: nullable(integer),
  moved_to_id: nullable(integer),
  closed_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  author: json<UserReferenceRow>(),
  closed_by: nullable(json<UserReferenceRow>()),
  assignees: json<UserReferenceRow[]>(),
  labels: json<AssignedLabelRow[]>(),
  milestone: nullable(json<MilestoneRow>()),
  upvotes: integer,
  downvotes: integer,
  user_notes_count: integer,
  /** Merge requests that close it, of those that the caller may read. */
  merge_requests_count: integer,
  time_estimate: integer,
  total_time_spent: integer,
  /** Null if there is none that the caller may read. */
  epic: nullable(json<EpicReferenceRow>()),
  /** The caller is subscribed; only in records of one issue. */
  subscribed: optional(boolean),
  /** Projects of the merge requests that close it; only in rows that are cached by themselves. */
  closing_project_ids: optional(json<number[]>()),
}
export type IssueRecordRow = RowOf<typeof issueRecordRow>

const type = 'Issue'
const id = raw('m.id')

/** Of a row named `m` with its project `p` and its milestone `ms`, for a caller. */
export const issueColumns = (caller: Caller): Sql => sql`
  m.id, m.iid, m.project_id, p.full_path, m.title, m.description, m.state, m.confidential, m.discussion_locked,
  m.due_date, m.weight, m.moved_to_id, m.closed_at, m.created_at, m.updated_at,
  ${userReferenceOf('m.author_id')} as author, ${userReferenceOf('m.closed_by_id')} as closed_by,
  (
    select coalesce(json_agg(${userReferenceJson('u')} order by u.id), '[]')
    from issue_assignees a join users u on u.id = a.user_id
    where a.issue_id = m.id
  ) as assignees,
  ${labelsJson(type, id)} as labels, ${milestoneJson('ms')} as milestone, votes.up as upvotes, votes.down as downvotes,
  (select count(*)::integer from notes n where n.issue_id = m.id and not n.system) as user_notes_count,
  ${closingCount(caller)} as merge_requests_count, m.time_estimate, ${timeSpentSql(type, id)} as total_time_spent,
  ${epicOfIssueJson(caller)} as epic
`

/** The tables of `issueColumns`. */
export const issueTables = sql`
  from issues m
    join projects p on p.id = m.project_id
    left join milestones ms on ms.id = m.milestone_id ${joinVotes(type)}
`

/** `select … from issues m …` for records in lists. */
export const issueSelect = (caller: Caller): Sql => sql`select ${issueColumns(caller)} ${issueTables}`

/** What `holdersOfIssue` needs. */
const holderColumns = sql`${closingProjects} as closing_project_ids`

/** Statements for some rows, each of which is cached by itself. */
export const cachedIssues = composedForCaller(
  (caller, ids: readonly number[]) =>
    sql`select ${issueColumns(caller)}, ${holderColumns} ${issueTables} where m.id = any(${ids}::bigint[])`,
)

/** Projects and groups on whose rows the row of an issue depends that is cached by itself. */
export const holdersOfIssue = (row: IssueRecordRow) => ({
  projects: [row.project_id, ...(row.closing_project_ids ?? [])],
  groups: [row.milestone?.namespace_id ?? null, ...row.labels.map(({ namespace_id }) => namespace_id)],
})

/** The same with `subscribed`, for the record of one issue. */
const detailed = composedForCaller(
  (caller, id: number) => sql`
    select ${issueColumns(caller)}, ${subscribedSql(caller, type, raw('m'))} as subscribed,
      ${holderColumns} ${issueTables}
    where m.id = ${id}
  `,
)

export const findIssueRecord = (db: Db, caller: Caller, issueId: number): Promise<IssueRecordRow | undefined> =>
  db.snapshotCache.row(issueRecordRow, byKey(detailed(caller, issueId)), holdersOfIssue)

/** Several records as in lists, unordered. */
export const findIssueRecords = (db: Db, caller: Caller, ids: readonly number[]): Promise<IssueRecordRow[]> =>
  db.rows(issueRecordRow, ofPage(sql`${issueSelect(caller)} where m.id = any(${ids}::bigint[])`))
