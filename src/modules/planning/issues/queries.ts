import type { Caller } from '../../../access/actor.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, date, integer, nullable, omit, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { notHidden, withPlaceOf } from '../../discussion/index.ts'
import { composedForCaller } from '../../namespaces/index.ts'
import { lockOf } from '../changes/lock-queries.ts'
import { issueStates } from './states.ts'

/** Columns that every operation on an issue needs. */
export const issueRow = {
  id: integer,
  /** Its number in the project. */
  iid: integer,
  project_id: integer,
  title: text,
  description: nullable(text),
  author_id: integer,
  state: oneOf(...issueStates),
  confidential: boolean,
  discussion_locked: nullable(boolean),
  milestone_id: nullable(integer),
  due_date: nullable(date),
  weight: nullable(integer),
  /** Seconds. */
  time_estimate: integer,
  moved_to_id: nullable(integer),
  duplicated_to_id: nullable(integer),
  created_at: timestamp,
  updated_at: timestamp,
  /** The caller is the author or an assignee. */
  own: boolean,
  /** It is confidential, and the caller may not read confidential issues of the project. */
  hidden: boolean,
}
export type IssueRow = RowOf<typeof issueRow>

/** Of a row named `m`. */
const columns = raw(`m.id, m.iid, m.project_id, m.title, m.description, m.author_id, m.state, m.confidential,
  m.discussion_locked, m.milestone_id, m.due_date, m.weight, m.time_estimate, m.moved_to_id, m.duplicated_to_id, m.created_at, m.updated_at`)

const ownOf = (caller: Caller): Sql =>
  caller === null
    ? raw('false')
    : sql`
      (
        m.author_id = ${caller.id}
        or exists (select from issue_assignees a where a.issue_id = m.id and a.user_id = ${caller.id})
      )
    `

const found = (caller: Caller, condition: Sql): Sql => sql`
  select ${columns}, ${ownOf(caller)} as own, not ${notHidden('Issue', caller)} as hidden
  from issues m join projects p on p.id = m.project_id
  where ${condition}
`

const numbered = composedForCaller((caller, projectId: number, iid: number) =>
  found(caller, sql`m.project_id = ${projectId} and m.iid = ${iid}`),
)

export const findIssue = (db: Db, caller: Caller, projectId: number, iid: number): Promise<IssueRow | undefined> =>
  db.snapshotCache.row(issueRow, byKey(numbered(caller, projectId, iid)), ({ project_id }) => ({
    projects: [project_id],
    groups: [],
  }))

export const findIssueById = (db: Db, caller: Caller, id: number): Promise<IssueRow | undefined> =>
  db.row(issueRow, byKey(found(caller, sql`m.id = ${id}`)))

const lockedIssueRow = omit(issueRow, 'own', 'hidden')
export type LockedIssue = RowOf<typeof lockedIssueRow>

export const lockIssue = lockOf('Issue', lockedIssueRow, columns)

/** Sets the time of its last change, and so locks its row for concurrent changes and notes. False if it is deleted. */
export const touchIssue = async (tx: Tx, id: number, at?: Date): Promise<boolean> =>
  (await tx.run(sql`
    ${withPlaceOf('Issue', id)}
    update issues m
    set updated_at = coalesce(${at ?? null}::timestamptz, now())
    from place
    where m.id = ${id}
  `)) > 0
