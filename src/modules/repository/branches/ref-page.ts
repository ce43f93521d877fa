import type { Reply } from '../../../api/endpoint.ts'
import { type Page, type Paged, slicePage } from '../../../api/page.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Optional, Text } from '../../../api/params/types.ts'

/** Parameter of lists of refs, which have no ids to continue after. */
export const pageTokenParam = Optional(Text({ description: 'Keyset pagination: the last name of the previous page' }))

/**
 * A page of a list of refs. With keyset pagination it starts after the name `token`, and this sets the URL of the next
 * page; `query` has the other parameters of the list.
 */
export function refPage<Row>(
  all: readonly Row[],
  page: Page,
  nameOf: (row: Row) => string,
  {
    token,
    url,
    query,
    reply,
  }: { token: string | undefined; url: string; query: Record<string, string | undefined>; reply: Reply },
): Paged<Row> {
  if (!page.keyset) return slicePage(all, page)
  const at = token === undefined || token === '' ? -1 : all.findIndex((row) => nameOf(row) === token)
  if (at < 0 && token) throw new ParameterError(`Invalid page token: ${token}`)
  const rows = all.slice(at + 1, at + 1 + page.perPage)
  const hasNext = all.length > at + 1 + rows.length
  const next = hasNext ? nameOf(rows.at(-1)!) : ''
  reply.header('x-per-page', String(page.perPage))
  if (hasNext) {
    const address = new URL(url)
    const given = { ...query, pagination: 'keyset', per_page: String(page.perPage), page_token: next }
    for (const [name, value] of Object.entries(given)) if (value !== undefined) address.searchParams.set(name, value)
    address.searchParams.sort()
    reply.header('link', `<${address}>; rel="next"`)
  }
  return { rows, total: undefined, hasNext }
}
