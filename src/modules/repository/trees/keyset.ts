import type { Reply } from '../../../api/endpoint.ts'
import type { Page, Paged } from '../../../api/page.ts'
import type { PathEntries } from '../../../git/objects/tree-listing.ts'
import type { PathEntry } from '../../../git/objects/trees.ts'
import { invalid } from '../../../kernel/failure.ts'

const tokenOf = ({ path }: PathEntry): string => Buffer.from(path, 'utf16le').toString('base64url')

/**
 * The page after the entry of a token. Entries have no ids to continue after, so this sets the URL of the next page,
 * with the token as `page_token`; `url` is that of the list with its other parameters.
 */
export function keysetPage(
  entries: PathEntries,
  page: Page,
  token: string | undefined,
  { url, reply }: { url: URL; reply: Reply },
): Paged<PathEntry> {
  const at = token === undefined || token === '' ? -1 : entries.findIndex((entry) => tokenOf(entry) === token)
  if (at < 0 && token) throw invalid('page_token is invalid')
  const rows = entries.slice(at + 1, at + 1 + page.perPage)
  const hasNext = entries.length > at + 1 + rows.length
  const next = hasNext ? tokenOf(rows.at(-1)!) : ''
  reply.header('x-per-page', String(page.perPage))
  reply.header('x-next-page', next)
  if (hasNext) {
    url.searchParams.set('pagination', 'keyset')
    url.searchParams.set('per_page', String(page.perPage))
    url.searchParams.set('page_token', next)
    url.searchParams.sort()
    reply.header('link', `<${url}>; rel="next"`)
  }
  return { rows, total: undefined, hasNext }
}
