import type { Db } from '../db.ts'
import { boolean, integer, type Kind, notNull, nullable, text } from '../row.ts'
import { empty, join, literal, raw, type Sql, sql } from '../sql.ts'
import type { Column } from './columns.ts'
import { batchOf, type Holder, type Relation } from './relation.ts'

/** A row with its columns as the table has them, except that users are their names. */
export type ReadRow = { readonly id: number | undefined; readonly values: Readonly<Record<string, unknown>> }

const kindOf = (column: Column): Kind<any> => {
  if (column.is === 'value') return column.kind
  if (column.is === 'self') return notNull(boolean)
  if (column.is === 'person') return column.nullable ? nullable(text) : notNull(text)
  return column.nullable ? nullable(integer) : notNull(integer)
}

function selectOf(name: string, column: Column): Sql {
  const stored = `t.${column.column ?? name}`
  if (column.is === 'self') return raw(`coalesce(${stored} = t.project_id, false) as "${name}"`)
  if (column.is === 'person') return raw(`(select u.username from users u where u.id = ${stored}) as "${name}"`)
  return raw(`${column.is === 'value' ? (column.reads ?? stored) : stored} as "${name}"`)
}

/** All rows of a relation in its order, in batches. */
export async function* readRelation(db: Db, relation: Relation, holder: Holder): AsyncGenerator<readonly ReadRow[]> {
  const { columns, order, from, where } = relation
  const keys = order.map((_, index) => `key_${index}`)
  const expressions = order.map((each) => (typeof each === 'string' ? each : `${each.text} collate "C"`))
  const shape = {
    ...Object.fromEntries(
      order.map((each, at) => [keys[at]!, notNull<unknown>(typeof each === 'string' ? integer : text)]),
    ),
    ...(relation.hasId && { own_id: integer }),
    ...Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, kindOf(column)])),
  }
  const selected = join([
    ...expressions.map((by, index) => raw(`${by} as ${keys[index]}`)),
    ...(relation.hasId ? [raw('t.id as own_id')] : []),
    ...Object.entries(columns).map(([name, column]) => selectOf(name, column)),
  ])
  const by = raw(expressions.join(', '))
  // With it alone, PostgreSQL finds the place in an index; the comparison of all keys skips the rest.
  const first = raw(expressions[0]!)
  const limit = batchOf(relation)
  const casts = order.map((each) => raw(typeof each === 'string' ? '::bigint' : '::text'))
  const rowsOf = (rows: readonly object[]): ReadRow[] =>
    rows.map((row) => {
      const { own_id: id, ...values } = row as Record<string, unknown>
      for (const key of keys) delete values[key]
      return { id: id as number | undefined, values }
    })
  if (relation.sortsIds) {
    const sorted = await db.rows({ id: integer }, sql`select t.id ${from} where ${where(holder)} order by ${by}`)
    for (let at = 0; at < sorted.length; at += limit) {
      const ids = sorted.slice(at, at + limit).map(({ id }) => id)
      yield rowsOf(
        await db.rows(
          shape,
          sql`select ${selected} ${from} where ${where(holder)} and t.id = any(${ids}::bigint[]) order by ${by}`,
        ),
      )
    }
    return
  }
  let after: readonly unknown[] | undefined
  for (;;) {
    const beyond: Sql = after
      ? sql`
        and ${first} >= ${after[0]}${casts[0]!}
        and (${by}) > (${join(after.map((key, at) => sql`${key}${casts[at]!}`))})
      `
      : empty
    const rows = await db.rows(
      shape,
      sql`select ${selected} ${from} where ${where(holder)} ${beyond} order by ${by} limit ${literal(limit)}`,
    )
    yield rowsOf(rows)
    if (rows.length < limit) return
    after = keys.map((key) => (rows.at(-1) as Record<string, unknown>)[key])
  }
}
