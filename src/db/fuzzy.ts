import { and, containing, escaped, join, raw, type Sql, sql } from './sql.ts'

/** Terms shorter than this are not searched for: trigrams do not help there. */
const shortestTerm = 3

/** Maximum terms with their own indexable condition; all further terms share one condition. */
const indexedTerms = 8

/** Characters. No column that is searched holds as many, and to look for them would keep a processor busy for seconds. */
const longestSearch = 4096

/** Blank-separated terms, each once; text in double quotes is one. */
export const termsOf = (search: string): string[] => [
  ...new Set(
    [...search.matchAll(/(?<=^|\s)"([^"]+)"(?=$|\s)|\S+/g)]
      .map(([whole, quoted]) => quoted ?? whole)
      .filter((term) => [...term].length >= shortestTerm),
  ),
]

/**
 * Every term occurs in one of the columns, in any case. Without a term long enough the whole text must equal a column.
 * Source: supplement to the API documents, "Search semantics". Columns are names of ours, never input.
 */
export function fuzzy(search: string, columns: readonly string[]): Sql {
  if (search.length > longestSearch) return raw('false')
  const text = search.trim().replace(/\s+/g, ' ')
  const patterns = termsOf(text).map(containing)
  return sql`
    (
      ${join(
        columns.map((column) =>
          patterns.length === 0
            ? // The pattern leads to the index of trigrams: a text without wildcards has those of its words, also of short ones.
              sql`(lower(${raw(column)}) = lower(${text}) and ${raw(column)} ilike ${escaped(text)})`
            : and([
                ...patterns.slice(0, indexedTerms).map((pattern) => sql`${raw(column)} ilike ${pattern}`),
                ...(patterns.length > indexedTerms
                  ? [sql`${raw(column)} ilike all(${patterns.slice(indexedTerms)}::text[])`]
                  : []),
              ]),
        ),
        ' or ',
      )}
    )
  `
}
