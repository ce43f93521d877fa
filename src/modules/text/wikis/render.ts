import { posix } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { escaped } from '../../../kernel/html.ts'
import type { PageRow } from './entity.ts'

type Place = { readonly of: 'project' | 'group'; readonly full_path: string }

/** The page with its content as HTML, with links for the caller. Other markup than Markdown is shown as it is written. */
export async function renderPage(ctx: Ctx, place: Place, page: PageRow): Promise<PageRow> {
  const { content: text = '', format, slug } = page
  if (format !== 'markdown') return { ...page, content: `<pre><code>${escaped(text)}</code></pre>` }
  const folder = posix.dirname(slug)
  const at = { kind: 'wiki', folder: folder === '.' ? '' : folder } as const
  const [content] = await ctx.markdown.html(ctx, [{ text, place: { ...place, at } }])
  return { ...page, content: content!.html }
}
