import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'
import { withPlaceOf } from '../noteables/holder-queries.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, tableOf } from '../noteables/queries.ts'
import { longestDuration } from './duration.ts'

export const timeRow = {
  /** Seconds; 0 without an estimate. */
  time_estimate: integer,
  /** Seconds. */
  total_time_spent: integer,
}
export type TimeRow = RowOf<typeof timeRow>

/** The seconds spent on the noteable of this type and id. Sums of imported logs may be out of bounds: without these, no list could be read. */
export const timeSpentSql = (type: NoteableType, id: Sql): Sql => sql`
  (
    select least(greatest(coalesce(sum(s.seconds), 0), 0), ${literal(longestDuration)})::integer
    from time_logs s
    where s.${columnOf(type)} = ${id}
  )
`

export const findTimes = (db: Db, { type, id }: Noteable): Promise<TimeRow | undefined> =>
  db.row(
    timeRow,
    sql`
      select m.time_estimate, ${timeSpentSql(type, sql`m.id`)} as total_time_spent
      from ${tableOf(type)} m
      where m.id = ${id}
    `,
  )

/** The same, and locks them for concurrent changes. Throws if the caller has lost the permission meanwhile. */
export const lockTimes = async (tx: Tx, noteable: Noteable): Promise<TimeRow | undefined> => {
  const held = await tx.run(sql`
    ${withPlaceOf(noteable.type, noteable.id)}
    select
    from place cross join ${tableOf(noteable.type)} m
    where m.id = ${noteable.id}
    for no key update of m
  `)
  if (held === 0) return undefined
  await tx.requirePermission?.()
  return findTimes(tx, noteable)
}

/** Negative to subtract. */
export const insertTimeLog = (tx: Tx, { type, id }: Noteable, userId: number, seconds: number): Promise<number> =>
  tx.run(sql`insert into time_logs (${columnOf(type)}, user_id, seconds) values (${id}, ${userId}, ${seconds})`)
