import type { List } from '../../../api/list.ts'
import type { Db } from '../../../db/db.ts'
import { integer, notNull, type RowOf, type Shape, textOf, timestamp } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { columnOf, type Noteable, type NoteableType } from '../../discussion/index.ts'

/** A table of what happened to noteables, with a column for each kind. Its rows are named `e`. */
export type EventTable<R extends Shape> = {
  /** Name of the records. */
  readonly type: string
  readonly row: R
  /** `select … from table e …` */
  readonly select: (type: NoteableType) => Sql
  /** The tables that `shown` needs. */
  readonly from: Sql
  /** Condition on the events of a noteable that are shown. */
  readonly shown: (noteable: Noteable) => Sql
}

/** Columns that the rows of all tables have, apart from the user. */
export const eventRow = {
  id: integer,
  noteable_type: textOf<NoteableType>(),
  noteable_id: notNull(integer),
  created_at: timestamp,
}

export const eventColumns = (type: NoteableType): Sql =>
  sql`e.id, ${type}::text as noteable_type, e.${columnOf(type)} as noteable_id, e.created_at`

/** Oldest first. */
export const eventsOf = <R extends Shape>({ type, select, from, shown }: EventTable<R>, noteable: Noteable): List => ({
  type,
  cached: true,
  select: select(noteable.type),
  from,
  where: [shown(noteable)],
  order: [{ by: sql`e.id`, direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findEvent = <R extends Shape>(
  db: Db,
  { row, select, shown }: EventTable<R>,
  noteable: Noteable,
  id: number,
): Promise<Readonly<RowOf<R>> | undefined> =>
  db.row(row, sql`${select(noteable.type)} where e.id = ${id} and ${shown(noteable)}`)
