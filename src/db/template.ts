import type { Statement } from './db.ts'
import type { Sql } from './sql.ts'

/** Stands in a template for a value to come. Each is unlike anything a statement may hold. */
export const placeholder = <T>(): T => Object(Symbol('placeholder')) as T

/**
 * A statement composed once, to be run with other values each time: composing a long one costs more than sending it.
 * `placeholders` stand in it for the values that the returned function takes, in that order.
 */
export function template(statement: Sql, ...placeholders: readonly unknown[]): (...values: unknown[]) => Statement {
  const { text, values: fixed } = statement
  const places = fixed.map((value) => placeholders.indexOf(value))
  return (...values) => ({ text, values: places.map((place, index) => (place < 0 ? fixed[index] : values[place])) })
}
