import type { Tx } from '../../../db/db.ts'
import { boolean, date, integer, json, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { nextGroupNumber } from '../../projects/index.ts'
import { type LabelReferenceRow, labelsJson } from '../labels/queries.ts'
import { epicStates } from './states.ts'

/** The attributes of an epic that a request writes. */
export type EpicValues = {
  readonly title: string
  readonly description: string | null
  readonly confidential: boolean
  readonly startDateIsFixed: boolean
  /** `YYYY-MM-DD`, as the other date. */
  readonly startDateFixed: string | null
  readonly dueDateIsFixed: boolean
  readonly dueDateFixed: string | null
}

type NewEpic = EpicValues & {
  readonly groupId: number
  readonly authorId: number
}

/** Assigns the next number of the group. Undefined if the group is being deleted. */
export const insertEpic = (tx: Tx, m: NewEpic): Promise<{ id: number; iid: number } | undefined> =>
  tx.row(
    { id: integer, iid: integer },
    sql`
      with target as (select id from namespaces where id = ${m.groupId} and not deleting for key share),
      number as (${nextGroupNumber('epics', m.groupId)})
      insert into epics (
        iid, namespace_id, title, description, author_id, confidential, start_date_is_fixed,
        start_date_fixed, due_date_is_fixed, due_date_fixed
      )
      select number.last, target.id, ${m.title}, ${m.description}, ${m.authorId}, ${m.confidential},
        ${m.startDateIsFixed}, ${m.startDateFixed}::date, ${m.dueDateIsFixed}, ${m.dueDateFixed}::date
      from number, target
      returning id, iid
    `,
  )

/** Sets the time of a new epic. */
export const saveCreated = (tx: Tx, id: number, at: Date): Promise<number> =>
  tx.run(sql`update epics set created_at = ${at}, updated_at = ${at} where id = ${id}`)

export const saveEpicValues = (tx: Tx, id: number, v: EpicValues): Promise<number> =>
  tx.run(sql`
    update epics
    set title = ${v.title}, description = ${v.description}, confidential = ${v.confidential},
      start_date_is_fixed = ${v.startDateIsFixed}, start_date_fixed = ${v.startDateFixed}::date,
      due_date_is_fixed = ${v.dueDateIsFixed}, due_date_fixed = ${v.dueDateFixed}::date
    where id = ${id}
  `)

export const saveClosed = (tx: Tx, id: number, userId: number): Promise<number> =>
  tx.run(sql`update epics set state = 'closed', closed_at = now(), closed_by_id = ${userId} where id = ${id}`)

export const saveReopened = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update epics set state = 'opened', closed_at = null, closed_by_id = null where id = ${id}`)

/** Locks the children of an epic, which lose their parent. Before the epic: an edit of a child locks the child, then its parent as one it refers to. */
export const lockChildren = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`select from epics where parent_id = ${id} order by id for no key update`)

export const deleteEpic = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from epics where id = ${id}`)

/** Attributes of an epic by which an edit detects changes. */
export const epicFactsRow = {
  title: text,
  description: nullable(text),
  state: oneOf(...epicStates),
  confidential: boolean,
  labels: json<LabelReferenceRow[]>(),
  parent_id: nullable(integer),
  start_date_is_fixed: boolean,
  start_date_fixed: nullable(date),
  due_date_is_fixed: boolean,
  due_date_fixed: nullable(date),
}
export type EpicFacts = RowOf<typeof epicFactsRow>

export const readEpicFacts = async (tx: Tx, id: number): Promise<EpicFacts> =>
  (await tx.row(
    epicFactsRow,
    sql`
      select m.title, m.description, m.state, m.confidential, ${labelsJson('Epic', raw('m.id'))} as labels, m.parent_id,
        m.start_date_is_fixed, m.start_date_fixed, m.due_date_is_fixed, m.due_date_fixed
      from epics m
      where m.id = ${id}
    `,
  ))!

/** Title and number of an epic, and its group. */
export const titleOfEpic = async (tx: Tx, id: number): Promise<{ group_id: number; iid: number; title: string }> =>
  (await tx.row(
    { group_id: integer, iid: integer, title: text },
    sql`select namespace_id as group_id, iid, title from epics where id = ${id}`,
  ))!
