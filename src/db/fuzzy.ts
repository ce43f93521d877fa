import { and, containing, join, raw, type Sql, sql } from './sql.ts'

/** Terms shorter than this are not searched for: trigrams do not help there. */
const shortestTerm = 3

/** Blank-separated terms; text in double quotes is one. */
export const termsOf = (search: string): string[] =>
  [...search.matchAll(/(?<=^|\s)"([^"]+)"(?=$|\s)|\S+/g)]
    .map(([whole, quoted]) => quoted ?? whole)
    .filter((term) => [...term].length >= shortestTerm)

/**
 * Every term occurs in one of the columns, in any case. Without a term long enough the whole text must equal a column.
 * Source: supplement to the API documents, "Search semantics". Columns are names of ours, never input.
 */
export function fuzzy(search: string, columns: readonly string[]): Sql {
  const terms = termsOf(search)
  const text = search.trim().replace(/\s+/g, ' ')
  return sql`(${join(
    columns.map((column) =>
      terms.length === 0
        ? sql`lower(${raw(column)}) = lower(${text})`
        : and(terms.map((term) => sql`${raw(column)} ilike ${containing(term)}`)),
    ),
    ' or ',
  )})`
}
