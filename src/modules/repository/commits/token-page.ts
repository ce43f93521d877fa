import type { Reply } from '../../../api/endpoint.ts'
import { type Page, type Paged, slicePage } from '../../../api/page.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Optional, Text } from '../../../api/params/types.ts'

/** Parameter of lists from git, whose entries have no ids to continue after. */
export const pageTokenParam = (token: string) => Optional(Text({ description: `Keyset pagination: ${token}` }))

export type Tokens<Row> = {
  tokenOf(row: Row): string
  /** The index of the row with a token, which clients may have made up; -1 if there is none. */
  indexOf(token: string): number
}

/** Tokens of a list that is in memory. */
export const tokensIn = <Row>(rows: readonly Row[], tokenOf: (row: Row) => string): Tokens<Row> => ({
  tokenOf,
  indexOf: (token) => rows.findIndex((row) => tokenOf(row) === token),
})

/**
 * A page of a list from git. With keyset pagination it starts after the entry of `token`, and this sets the URL of the next page;
 * `query` has the other parameters of the list.
 */
export function tokenPage<Row>(
  all: Pick<readonly Row[], 'length' | 'slice'>,
  page: Page,
  { tokenOf, indexOf }: Tokens<Row>,
  {
    token,
    url,
    query,
    reply,
  }: { token: string | undefined; url: string; query: Record<string, string | undefined>; reply: Reply },
): Paged<Row> {
  if (!page.keyset) return slicePage(all, page)
  const at = token === undefined || token === '' ? -1 : indexOf(token)
  if (at < 0 && token) throw new ParameterError(`Invalid page token: ${token}`)
  const rows = all.slice(at + 1, at + 1 + page.perPage)
  const hasNext = all.length > at + 1 + rows.length
  reply.header('x-per-page', String(page.perPage))
  if (hasNext) {
    const address = new URL(url)
    const next = { pagination: 'keyset', per_page: String(page.perPage), page_token: tokenOf(rows.at(-1)!) }
    for (const [name, value] of Object.entries({ ...query, ...next }))
      if (value !== undefined) address.searchParams.set(name, value)
    address.searchParams.sort()
    const link = `<${address}>; rel="next"`
    // Compat: old clients read `Links`, newer ones `Link`.
    for (const name of ['link', 'links']) reply.header(name, link)
  }
  return { rows, total: undefined, hasNext }
}
