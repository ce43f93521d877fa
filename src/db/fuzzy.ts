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
 * The index that finds texts which equal a search without a term long enough. Of trigrams: a pattern without wildcards has those of its words, but
 * hundreds of thousands of rows may have them all. Of short texts: the few without such a term, by their digests (`0107_short_texts.sql`).
 */
type IndexOfEqual = 'trigrams' | 'short texts'

const equalTo = (column: Sql, text: string, index: IndexOfEqual): Sql =>
  index === 'trigrams'
    ? sql`(lower(${column}) = lower(${text}) and ${column} ilike ${escaped(text)})`
    : sql`(${column} !~ '\\S{3}' and md5(lower(${column})) = md5(lower(${text})) and lower(${column}) = lower(${text}))`

/**
 * Every term occurs in one of the columns, in any case. Without a term long enough the whole text must equal a column.
 * Source: supplement to the API documents, "Search semantics". Columns are names of ours, never input.
 */
export function fuzzy(search: string, columns: readonly string[], index: IndexOfEqual = 'trigrams'): Sql {
  if (search.length > longestSearch) return raw('false')
  const text = search.trim().replace(/\s+/g, ' ')
  const patterns = termsOf(text).map(containing)
  return sql`
    (
      ${join(
        columns.map((column) =>
          patterns.length === 0
            ? equalTo(raw(column), text, index)
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
