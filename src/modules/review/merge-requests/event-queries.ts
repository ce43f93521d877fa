import type { Tx } from '../../../db/db.ts'
import {
  boolean,
  integer,
  json,
  listOf,
  nullable,
  oneOf,
  type RowOf,
  text,
  textOf,
  timestamp,
} from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type LabelReferenceRow, labelsJson } from '../../planning/index.ts'
import { mergeRequestStates, mergeStatuses } from './states.ts'

/** Attributes of a merge request by which an edit detects changes. */
export const mergeRequestFactsRow = {
  id: integer,
  iid: integer,
  target_project_id: integer,
  target_branch: text,
  source_project_id: nullable(integer),
  source_branch: text,
  title: text,
  description: nullable(text),
  state: oneOf(...mergeRequestStates),
  merge_status: oneOf(...mergeStatuses),
  merge_commit_oid: nullable(textOf<Oid>()),
  merge_error: nullable(text),
  author_id: integer,
  assignee_ids: listOf(integer),
  reviewer_ids: listOf(integer),
  labels: json<LabelReferenceRow[]>(),
  milestone_id: nullable(integer),
  discussion_locked: nullable(boolean),
  squash: boolean,
  force_remove_source_branch: nullable(boolean),
  allow_collaboration: boolean,
  head_oid: nullable(textOf<Oid>()),
  time_estimate: integer,
  created_at: timestamp,
  updated_at: timestamp,
}
export type MergeRequestFacts = RowOf<typeof mergeRequestFactsRow>

export const readFacts = async (tx: Tx, id: number): Promise<MergeRequestFacts> =>
  (await tx.row(
    mergeRequestFactsRow,
    sql`
      select m.id, m.iid, m.project_id as target_project_id, m.target_branch, m.source_project_id, m.source_branch,
        m.title, m.description, m.state, m.merge_status, m.merge_commit_oid, m.merge_error, m.author_id,
        array(
          select a.user_id from merge_request_assignees a where a.merge_request_id = m.id order by a.user_id
        ) as assignee_ids,
        array(
          select r.user_id from merge_request_reviewers r where r.merge_request_id = m.id order by r.user_id
        ) as reviewer_ids,
        ${labelsJson('MergeRequest', raw('m.id'))} as labels, m.milestone_id, m.discussion_locked, m.squash,
        m.force_remove_source_branch, m.allow_collaboration, d.head_oid, m.time_estimate, m.created_at, m.updated_at
      from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
      where m.id = ${id}
    `,
  ))!

/** Title and number of a merge request, and its project. */
export const readTitle = async (tx: Tx, id: number): Promise<{ project_id: number; iid: number; title: string }> =>
  (await tx.row(
    { project_id: integer, iid: integer, title: text },
    sql`select project_id, iid, title from merge_requests where id = ${id}`,
  ))!
