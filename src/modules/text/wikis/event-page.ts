import type { Ctx } from '../../../api/ctx.ts'
import type { Payload } from '../../../events/catalogue.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import { findSideRepositoryById, openSideRepository } from '../../pushes/index.ts'
import { pageAt } from './page-names.ts'
import { contentOf, findPage, unlessTooLarge } from './pages.ts'

/** A page as it was at the time of an event. */
export type EventPage = {
  readonly title: string
  readonly slug: string
  readonly format: string
  readonly content: string
  /** Message of the commit. */
  readonly message: string
  readonly url: string
}

/**
 * What webhooks tell about a page, read when they are sent from the commit that the event names. Text and message are empty if the wiki or
 * the commit is gone, and the text of a page that is too large, or among too many files; undefined if the path is not that of a page. Without a permission check:
 * the hook belongs to the project or group.
 */
export async function pageOfEvent(
  ctx: Ctx,
  { side_repository_id, commit, path }: Payload<'wiki_page_created'>,
  holderPath: string,
): Promise<EventPage | undefined> {
  const name = pageAt(path)
  if (!name) return undefined
  const { title, slug, format } = name
  const named = { title, slug, format, url: `${ctx.site.url}/${holderPath}/-/wikis/${encodedPath(slug)}` }
  const row = await findSideRepositoryById(ctx.db, side_repository_id)
  if (!row) return { ...named, content: '', message: '' }
  const repo = openSideRepository(ctx, row)
  const [made, page] = [await readCommit(repo, commit), await findPage(repo, commit, name.slug).catch(unlessTooLarge)]
  const content = page && (await contentOf(repo, page).catch(unlessTooLarge))
  return { ...named, content: content ?? '', message: made?.message.trimEnd() ?? '' }
}
