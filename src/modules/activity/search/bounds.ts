import { type Page, type Paged, slicePage } from '../../../api/page.ts'
import type { FoundLines, TextSearch } from '../../../git/objects/text-search.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { type CodeQuery, parseCodeQuery } from './file-filters.ts'

/** Maximum results of a search over all pages; users narrow the search to find more. */
export const maxFound = 1000
const maxBytes = 8 * 1024 * 1024
export const timeoutMs = 10_000

export const nothing: Paged<never> = { rows: [], total: 0, hasNext: false }

/** A page of results; the total is omitted if the search ended early. */
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

/** The error of a search that timed out; narrower searches may succeed. */
export const tookTooLong = () =>
  new Failure('unprocessable', 'The search took too long: use a rarer text or fewer files')

export const codeQuery = (search: string): CodeQuery => parseCodeQuery(oneLine(search))

/** The search as git runs it, with the limits and this timeout. */
export const textSearch = (query: CodeQuery, timeoutMs: number): TextSearch => ({
  text: query.text,
  ...(query.like[0] !== undefined && { like: query.like[0] }),
  accepts: query.accepts,
  maxFound,
  maxBytes,
  timeoutMs,
})

/** Approximate memory of the found lines in bytes. */
export const sizeOfLines = ({ found }: { readonly found: readonly FoundLines[] }): number =>
  found.reduce((sum, { path, text }) => sum + 2 * (path.length + text.length) + 150, 0)
