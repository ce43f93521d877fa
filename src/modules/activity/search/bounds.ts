import { type Page, type Paged, slicePage } from '../../../api/page.ts'
import type { FoundLines, TextSearch } from '../../../git/objects/text-search.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { type CodeQuery, fits, parseCodeQuery } from './file-filters.ts'

/** Nobody turns more pages than these fill; what lies beyond is asked for in other words. */
export const maxFound = 1000
const maxBytes = 8 * 1024 * 1024
export const timeoutMs = 10_000

export const nothing: Paged<never> = { rows: [], total: 0, hasNext: false }

/** A page of what was found; how much there is in all is not told when the search ended early. */
export const pageOf = <Row>(
  { found, complete }: { readonly found: readonly Row[]; readonly complete: boolean },
  page: Page,
): Paged<Row> => {
  const paged = slicePage(found, page)
  return complete ? paged : { ...paged, total: undefined }
}

export const oneLine = (text: string): string => {
  if (/[\r\n]/.test(text)) throw invalid('search must be one line')
  return text
}

/** Somebody who asks for less may be told. */
export const tookTooLong = () =>
  new Failure('unprocessable', 'The search took too long: search for something rarer, or in fewer files')

/** What a text says to search for in code. */
export function codeQuery(search: string): CodeQuery {
  const query = parseCodeQuery(oneLine(search))
  if (query.text === '') throw invalid('search has nothing but filters')
  return query
}

/** The same for git, within the bounds and this time. */
export const textSearch = (query: CodeQuery, timeoutMs: number): TextSearch => ({
  text: query.text,
  ...(query.like[0] !== undefined && { like: query.like[0] }),
  accepts: (path) => fits(query, path),
  maxFound,
  maxBytes,
  timeoutMs,
})

/** Bytes that found lines take in memory. */
export const sizeOfLines = ({ found }: { readonly found: readonly FoundLines[] }): number =>
  found.reduce((sum, { path, text }) => sum + 2 * (path.length + text.length) + 150, 0)
