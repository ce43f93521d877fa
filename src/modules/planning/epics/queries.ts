import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, date, integer, nullable, omit, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { notHidden, withPlaceOf } from '../../discussion/index.ts'
import { lockOf } from '../changes/lock-queries.ts'
import { epicStates } from './states.ts'

/** Columns that every operation on an epic needs. */
export const epicRow = {
  id: integer,
  /** Its number in the group. */
  iid: integer,
  group_id: integer,
  parent_id: nullable(integer),
  title: text,
  description: nullable(text),
  author_id: integer,
  state: oneOf(...epicStates),
  confidential: boolean,
  start_date_is_fixed: boolean,
  start_date_fixed: nullable(date),
  due_date_is_fixed: boolean,
  due_date_fixed: nullable(date),
  created_at: timestamp,
  updated_at: timestamp,
  /** It is confidential, and the caller may not read confidential epics of the group. */
  hidden: boolean,
}
export type EpicRow = RowOf<typeof epicRow>

/** Of a row named `m`. */
const columns = raw(`m.id, m.iid, m.namespace_id as group_id, m.parent_id, m.title, m.description, m.author_id, m.state,
  m.confidential, m.start_date_is_fixed, m.start_date_fixed, m.due_date_is_fixed, m.due_date_fixed, m.created_at,
  m.updated_at`)

const found = (caller: Caller, condition: Sql): Sql => sql`
  select ${columns}, not ${notHidden('Epic', caller)} as hidden
  from epics m join namespaces g on g.id = m.namespace_id
  where ${condition}
`

export const findEpic = (db: Db, caller: Caller, groupId: number, iid: number): Promise<EpicRow | undefined> =>
  db.row(epicRow, found(caller, sql`m.namespace_id = ${groupId} and m.iid = ${iid}`))

export const findEpicById = (db: Db, caller: Caller, id: number): Promise<EpicRow | undefined> =>
  db.row(epicRow, found(caller, sql`m.id = ${id}`))

/** The epic with this number in the group, or else with this id there. */
export const findEpicByIidOrId = (
  db: Db,
  caller: Caller,
  groupId: number,
  value: number,
): Promise<EpicRow | undefined> =>
  db.row(
    epicRow,
    sql`
      ${found(caller, sql`m.namespace_id = ${groupId} and (m.iid = ${value} or m.id = ${value})`)}
      order by (m.iid = ${value}) desc
      limit 1
    `,
  )

const lockedEpicRow = omit(epicRow, 'hidden')

export const lockEpic = lockOf('Epic', lockedEpicRow, columns)

/** Sets the time of its last change, and so locks its row for concurrent changes and notes. False if it is deleted. */
export const touchEpic = async (tx: Tx, id: number, at?: Date): Promise<boolean> =>
  (await tx.run(sql`
    ${withPlaceOf('Epic', id)}
    update epics m
    set updated_at = coalesce(${at ?? null}::timestamptz, now())
    from place
    where m.id = ${id}
  `)) > 0
