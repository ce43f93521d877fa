import type { World } from '../world.ts'

/** An expression that the database evaluates. */
export class Computed {
  readonly sql: string
  constructor(sql: string) {
    this.sql = sql
  }
}

export const today: Computed = new Computed('current_date')
export const now: Computed = new Computed('now()')
/** A date. */
export const daysAgo = (days: number): Computed => new Computed(`current_date - ${days}`)
/** A time; `interval` is one of PostgreSQL, such as `59 days`. */
export const ago = (interval: string): Computed => new Computed(`now() - interval '${interval}'`)

export type Value = string | number | boolean | null | Computed | readonly (string | number)[]
export type Values = Readonly<Record<string, Value>>
/** Rows by their columns; a list stands for any of its values. */
export type Condition = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>

/** Collects the values of one statement. */
class Bound {
  readonly values: unknown[] = []

  add(value: Value): string {
    if (value instanceof Computed) return value.sql
    return `$${this.values.push(value)}`
  }

  where(condition: Condition): string {
    const parts = Object.entries(condition).map(([column, value]) => {
      if (value === null) return `${column} is null`
      return `${column} = ${Array.isArray(value) ? `any(${this.add(value)})` : this.add(value)}`
    })
    return parts.length === 0 ? '' : `where ${parts.join(' and ')}`
  }
}

/** Rows of a table, in the order of `by`. */
export function find(
  world: World,
  table: string,
  condition: Condition,
  columns: readonly string[] = ['*'],
  by?: string,
): Promise<any[]> {
  const bound = new Bound()
  const where = bound.where(condition)
  return world.rows(
    `select ${columns.join(', ')} from ${table} ${where} ${by === undefined ? '' : `order by ${by}`}`,
    bound.values,
  )
}

/** Changes rows, and returns them as they are then. */
export function change(world: World, table: string, condition: Condition, values: Values): Promise<any[]> {
  const bound = new Bound()
  const set = Object.entries(values).map(([column, value]) => `${column} = ${bound.add(value)}`)
  return world.rows(`update ${table} set ${set.join(', ')} ${bound.where(condition)} returning *`, bound.values)
}

/** Inserts a row, and returns it. */
export async function add(world: World, table: string, row: Values): Promise<any> {
  const bound = new Bound()
  const values = Object.values(row).map((value) => bound.add(value))
  const columns = Object.keys(row).join(', ')
  const inserted = await world.rows(
    `insert into ${table} (${columns}) values (${values.join(', ')}) returning *`,
    bound.values,
  )
  return inserted[0]
}

export function remove(world: World, table: string, condition: Condition): Promise<any[]> {
  const bound = new Bound()
  return world.rows(`delete from ${table} ${bound.where(condition)}`, bound.values)
}

/** Inserts rows; returns their ids in the same order. Missing columns have their defaults. */
export async function addAll(
  world: World,
  table: string,
  columns: readonly string[],
  rows: readonly object[],
): Promise<number[]> {
  const names = columns.join(', ')
  const added = await world.rows(
    `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1) returning *`,
    [JSON.stringify(rows)],
  )
  return added.map(({ id }) => Number(id))
}
