import type { Db, Tx } from '../db.ts'
import { integer, text } from '../row.ts'
import { join, raw, type Sql, sql } from '../sql.ts'
import type { Column } from './columns.ts'
import type { Holder, Relation } from './relation.ts'

/** A row to insert: users and references are ids. */
export type WrittenRow = Readonly<Record<string, unknown>>

const typeOf = (column: Column): string => (column.is === 'value' ? column.type : 'bigint')

const isWritten = (column: Column): boolean => column.is !== 'value' || column.informs !== true

/** New ids for rows of a relation, ascending. */
export async function reserveIds(tx: Tx, { table }: Relation, count: number): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::int)`,
  )
  return rows.map(({ id }) => id)
}

/** Inserts rows of a relation below a project or group, in their order. One statement. */
export async function writeRows(
  tx: Tx,
  relation: Relation,
  holder: Holder,
  rows: readonly WrittenRow[],
): Promise<void> {
  const written = Object.entries(relation.columns).filter(([, column]) => isWritten(column))
  const names = written.map(([name, column]) => column.column ?? name)
  const held = relation.holder ?? []
  const columns = [...(relation.hasId ? ['id'] : []), ...held, ...names]
  const fields = [
    ...(relation.hasId ? ['id bigint'] : []),
    ...written.map(([name, column]) => `"${name}" ${typeOf(column)}`),
  ]
  const values: Sql[] = [
    ...(relation.hasId ? [raw('r.id')] : []),
    ...held.map(() => sql`${holder.id}::bigint`),
    ...written.map(([name]) => raw(`r."${name}"`)),
  ]
  await tx.run(sql`
    insert into ${raw(relation.table)} (
      ${raw(columns.join(', '))}
    ) ${raw(relation.hasId ? 'overriding system value' : '')}
    select ${join(values)}
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (
      ${raw(fields.join(', '))}
    ) ${raw(relation.repeats === 'skip' ? 'on conflict do nothing' : (relation.repeats?.clause ?? ''))}
  `)
}

/** Ids of rows that take the place of records, by their keys. */
export async function findAdopted(
  db: Db,
  { adopt }: Relation,
  holder: Holder,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (!adopt || keys.length === 0) return new Map()
  const rows = await db.rows({ key: text, id: integer }, adopt.find(holder, keys))
  return new Map(rows.map(({ key, id }) => [key, id]))
}
