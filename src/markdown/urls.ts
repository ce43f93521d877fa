import { encodedPath } from '../kernel/encoded-path.ts'
import { withoutTrailing } from '../kernel/without-ends.ts'
import { proxiedUrl } from './asset-proxy.ts'
import { idPrefix } from './sanitize.ts'
import type { MarkdownContext, RelativeLinks } from './types.ts'

/** Stands for the host of relative links. */
const nowhere = 'relative.invalid'

/**
 * A URL relative to a page as an absolute one at `nowhere`; others unchanged. Parsed as browsers do, who ignore tabs and line breaks, and
 * take `http:example.com` for relative only on pages of the same scheme.
 */
const parse = (url: string, { siteUrl, links }: MarkdownContext): URL | null => {
  const folder = links?.folder ?? ''
  return URL.parse(url, `${siteUrl.slice(0, siteUrl.indexOf(':'))}://${nowhere}/${folder === '' ? '' : `${folder}/`}`)
}

const isRelative = ({ host }: URL): boolean => host === nowhere

/** Whether a path is that of a document with headings of its own. */
const isDocument = (path: string): boolean => /\.(?:md|markdown|mdown|mkd|mkdn)$/i.test(path)

/** Where a relative URL leads: to an upload, a file of the repository, or a page of the wiki. */
function resolve(
  { pathname, search, hash }: URL,
  { home, of }: RelativeLinks,
  view: 'blob' | 'raw',
): string | undefined {
  if (/^\/uploads\/[0-9a-f]{32}\//.test(pathname)) return `${home}${pathname}${search}${hash}`
  if (of === undefined) return undefined
  if (of.kind === 'wiki') return `${home}/-/wikis${pathname}${search}${hash}`
  const folder = pathname.endsWith('/')
  const fragment = isDocument(pathname) ? ownFragment(hash) : hash
  return `${home}/-/${folder ? 'tree' : view}/${encodedPath(of.ref)}${folder ? withoutTrailing(pathname, '/') : pathname}${search}${fragment}`
}

/** A fragment that leads to an id of a document. */
const ownFragment = (hash: string): string =>
  hash.length > 1 && !hash.startsWith(`#${idPrefix}`) ? `#${idPrefix}${hash.slice(1)}` : hash

const isControlled = (url: string): boolean => /[\s\p{Cc}]/u.test(url)

export type LinkUrl = { readonly href: string; readonly isExternal: boolean }

/** The URL of a link; undefined if it is none. */
export function linkUrl(href: string, context: MarkdownContext): LinkUrl | undefined {
  const { siteUrl, links } = context
  if (href.startsWith('#')) return { href: ownFragment(href), isExternal: false }
  const url = parse(href, context)
  if (url === null) return undefined
  if (isRelative(url))
    return { href: (links && resolve(url, links, 'blob')) ?? relativeHref(href, url), isExternal: false }
  return { href: isControlled(href) ? url.href : href, isExternal: !url.href.startsWith(`${siteUrl}/`) }
}

/** As written, unless it has characters that browsers ignore. */
const relativeHref = (href: string, { pathname, search, hash }: URL): string =>
  isControlled(href) ? `${pathname}${search}${hash}` : href

export type ImageUrl = { readonly src: string /** The URL that a proxy serves. */; readonly proxied?: string }

/** The URL of an image, through the proxy if there is one. */
export function imageUrl(src: string, context: MarkdownContext): ImageUrl | undefined {
  const { siteUrl, links, assetProxy } = context
  const url = parse(src, context)
  if (url === null) return undefined
  if (isRelative(url)) return { src: (links && resolve(url, links, 'raw')) ?? relativeHref(src, url) }
  if (assetProxy === undefined || url.href.startsWith(`${siteUrl}/`)) return { src: url.href }
  const through = proxiedUrl(assetProxy, url)
  return through === undefined ? { src: url.href } : { src: through, proxied: url.href }
}
