import type { Caller } from '../../../access/actor.ts'
import { boundedPage, type Db } from '../../../db/db.ts'
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
import { type UserReferenceRow, userReferenceOf } from '../../accounts/index.ts'
import { joinHolder, joinVotes, readableRow, subscribedSql, visibleHolder } from '../../discussion/index.ts'
import { type LabelReferenceRow, labelsJson } from '../labels/queries.ts'
import { mostGenerations } from './limits.ts'
import { epicStates } from './states.ts'

/** The parent of an epic, if the caller may read it. */
export type ParentRow = { readonly id: number; readonly iid: number; readonly group_id: number }

/** Columns of the record of an epic. */
export const epicRecordRow = {
  id: integer,
  iid: integer,
  group_id: integer,
  full_path: text,
  title: text,
  description: nullable(text),
  state: oneOf(...epicStates),
  confidential: boolean,
  start_date_is_fixed: boolean,
  start_date_fixed: nullable(date),
  start_date_inherited: nullable(date),
  due_date_is_fixed: boolean,
  due_date_fixed: nullable(date),
  due_date_inherited: nullable(date),
  closed_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  author: json<UserReferenceRow>(),
  parent: nullable(json<ParentRow>()),
  labels: json<LabelReferenceRow[]>(),
  upvotes: integer,
  downvotes: integer,
  /** The caller is subscribed; only in records of one epic. */
  subscribed: optional(boolean),
}
export type EpicRecordRow = RowOf<typeof epicRecordRow>

const type = 'Epic'
const id = raw('m.id')

/**
 * The first start or the last due date of the milestones of the issues of an epic and of the dates in force of its child epics, and so on
 * down the generations. Closed issues and epics count. One nested subquery for each generation there can be, no recursion.
 */
const inherited = (which: 'start' | 'due', epic = 'm', generations: number = mostGenerations): string => {
  const [every, either] = which === 'start' ? ['min', 'least'] : ['max', 'greatest']
  const ofMilestones = `(
    select ${every}(ms.${which}_date)
    from epic_issues ei join issues i on i.id = ei.issue_id join milestones ms on ms.id = i.milestone_id
    where ei.epic_id = ${epic}.id
  )`
  if (generations === 1) return ofMilestones
  const child = `below_${generations - 1}`
  const ofChild = inherited(which, child, generations - 1)
  return `${either}(${ofMilestones}, (
    select ${every}(case when ${child}.${which}_date_is_fixed then ${child}.${which}_date_fixed else ${ofChild} end)
    from epics ${child}
    where ${child}.parent_id = ${epic}.id
  ))`
}

const inheritedStart = raw(inherited('start'))
const inheritedDue = raw(inherited('due'))

/** Of a row named `m` with its group `g`, for a caller. */
const columnsFor = (caller: Caller): Sql => sql`
  m.id, m.iid, m.namespace_id as group_id, g.full_path, m.title, m.description, m.state, m.confidential,
  m.start_date_is_fixed, m.start_date_fixed, ${inheritedStart} as start_date_inherited, m.due_date_is_fixed,
  m.due_date_fixed, ${inheritedDue} as due_date_inherited, m.closed_at, m.created_at, m.updated_at,
  ${userReferenceOf('m.author_id')} as author,
  (
    select json_build_object('id', m.id, 'iid', m.iid, 'group_id', m.namespace_id)
    from (select m.parent_id as id) as child join epics m on m.id = child.id ${joinHolder(type)}
    where ${visibleHolder(type, caller)} and ${readableRow(type, caller)}
  ) as parent,
  ${labelsJson(type, id)} as labels, votes.up as upvotes, votes.down as downvotes
`

const tables = sql`from epics m join namespaces g on g.id = m.namespace_id ${joinVotes(type)}`

/** `select … from epics m …` for records in lists. */
export const epicSelect = (caller: Caller): Sql => sql`select ${columnsFor(caller)} ${tables}`

/** The record of one epic, with `subscribed`. */
export const findEpicRecord = (db: Db, caller: Caller, epicId: number): Promise<EpicRecordRow | undefined> =>
  db.row(
    epicRecordRow,
    sql`
      select ${columnsFor(caller)}, ${subscribedSql(caller, type, raw('m'))} as subscribed ${tables}
      where m.id = ${epicId}
    `,
  )

/** Several records as in lists, unordered. */
export const findEpicRecords = (db: Db, caller: Caller, ids: readonly number[]): Promise<EpicRecordRow[]> =>
  db.rows(epicRecordRow, boundedPage(sql`${epicSelect(caller)} where m.id = any(${ids}::bigint[])`))
