import type { Statement } from './db.ts'
import type { Sql } from './sql.ts'

/** Placeholder in a template for a value. Each differs from every value that a statement may contain. */
export const placeholder = <T>(): T => Object(Symbol('placeholder')) as T

/**
 * A statement composed once and run with different values: composing a long one costs more than sending it. `placeholders` stand
 * for the values that the returned function takes, in that order.
 */
export function template(statement: Sql, ...placeholders: readonly unknown[]): (...values: unknown[]) => Statement {
  const { text, values: fixed } = statement
  const places = fixed.map((value) => placeholders.indexOf(value))
  return (...values) => ({ text, values: places.map((place, index) => (place < 0 ? fixed[index] : values[place])) })
}
