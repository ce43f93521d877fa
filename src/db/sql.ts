import sqlTag, { empty, join, raw, type Sql } from 'sql-template-tag'

export { empty, join, raw, type Sql }

/** SQL with its values separate: `sql\`select * from users where id = ${id}\``. Fragments nest. */
export const sql = sqlTag

/** The conditions joined by AND; `true` when there are none. */
export const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('true') : join(conditions, ' and ')

/**
 * A number written into the text. For LIMIT and OFFSET: a parameter there spoils the cached plan,
 * and the few page sizes in use make few texts.
 */
export function literal(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`not an integer: ${value}`)
  return raw(String(value))
}

/** Expressions by the names of their columns. */
export type Columns = Readonly<Record<string, Sql>>

/** The columns of a SELECT. */
export const asColumns = (columns: Columns): Sql =>
  join(
    Object.entries(columns).map(([name, value]) => sql`${value} as ${raw(name)}`),
    ', ',
  )

/** The same as one column of JSON. */
export const asJsonObject = (columns: Columns): Sql => sql`
  json_build_object(${join(
    Object.entries(columns).flatMap(([name, value]) => [raw(`'${name}'`), value]),
    ', ',
  )})
`

/** A timestamp in the format of API records, for JSON that PostgreSQL builds. */
export const wireTime = (expression: Sql): Sql =>
  sql`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** `text` as a LIKE pattern that matches it alone, with `%`, `_` and `\` taken literally. */
export const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** The same, matching it anywhere. */
export const containing = (text: string): string => `%${escaped(text)}%`

/**
 * Whether a recorded time is longer ago than `age`, an interval. A time in the future was recorded before the clock was set back,
 * and counts as long ago, so that nothing waits until the clock has caught up.
 */
export const isLongAgo = (time: Sql, age: Sql): Sql =>
  sql`${time} not between now() - ${age} and now() + interval '1 minute'`

/** Whether a membership, share, invitation or token still counts: its date `expires_at` is the first day on which it does not. */
export const unexpired = (alias: string): Sql => {
  const end = raw(`${alias}.expires_at`)
  return sql`(${end} is null or ${end} > current_date)`
}

/**
 * Whether a planned time has come. A time later than `limit`, the longest interval that is ever planned, was planned before the
 * clock was set back.
 */
export const isDue = (time: Sql, limit: Sql): Sql => sql`(${time} <= now() or ${time} > now() + ${limit})`
