import type { Tx } from '../../../db/db.ts'
import { boolean, date, integer, json, listOf, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { epicIdOfIssue } from '../epic-links/queries.ts'
import { type LabelReferenceRow, labelsJson } from '../labels/queries.ts'
import { issueStates } from './states.ts'

/** Attributes of an issue by which an edit detects changes. */
export const issueFactsRow = {
  title: text,
  description: nullable(text),
  state: oneOf(...issueStates),
  confidential: boolean,
  discussion_locked: nullable(boolean),
  assignee_ids: listOf(integer),
  labels: json<LabelReferenceRow[]>(),
  milestone_id: nullable(integer),
  due_date: nullable(date),
  weight: nullable(integer),
  epic_id: nullable(integer),
}
export type IssueChangeFacts = RowOf<typeof issueFactsRow>

export const readIssueFacts = async (tx: Tx, id: number): Promise<IssueChangeFacts> =>
  (await tx.row(
    issueFactsRow,
    sql`
      select m.title, m.description, m.state, m.confidential, m.discussion_locked,
        array(select a.user_id from issue_assignees a where a.issue_id = m.id order by a.user_id) as assignee_ids,
        ${labelsJson('Issue', raw('m.id'))} as labels, m.milestone_id, m.due_date, m.weight, ${epicIdOfIssue} as epic_id
      from issues m
      where m.id = ${id}
    `,
  ))!

/** Title and number of an issue, and its project. */
export const titleOfIssue = async (tx: Tx, id: number): Promise<{ project_id: number; iid: number; title: string }> =>
  (await tx.row(
    { project_id: integer, iid: integer, title: text },
    sql`select project_id, iid, title from issues where id = ${id}`,
  ))!
