import type { Ctx, Markdown } from '../../../api/ctx.ts'
import type { MarkdownPlace, MarkdownText } from '../../../api/markdown.ts'
import type { MarkdownRenderer } from '../../../markdown/renderer.ts'
import type { AssetProxy, MarkdownContext, MarkdownDocument, RelativeLinks } from '../../../markdown/types.ts'
import { openSettings } from '../../administration/index.ts'
import { withReferences } from './references.ts'

/** Relative links of descriptions and notes lead to the default branch. */
const defaultBranch = { kind: 'files', ref: 'HEAD', folder: '' } as const

function linksIn(place: MarkdownPlace, siteUrl: string): RelativeLinks | undefined {
  switch (place.of) {
    case 'project': {
      const { folder, ...of } = place.at ?? defaultBranch
      return { home: `${siteUrl}/${place.full_path}`, of, folder }
    }
    case 'group': {
      const { folder, ...of } = place.at ?? { folder: '' }
      return { home: `${siteUrl}/groups/${place.full_path}`, ...('kind' in of && { of }), folder }
    }
    case 'instance':
      return undefined
  }
}

/**
 * The proxy of external images, if it is enabled. Without the key of its secret, which is in a file beside the database, the service
 * starts all the same: the proxy then refuses the images, but their hosts learn of no reader.
 */
export function assetProxyOf({ settings, secrets, site, log }: ProxySources): AssetProxy | undefined {
  const { asset_proxy_enabled, asset_proxy_url: url, asset_proxy_secret_key, asset_proxy_whitelist } = settings
  if (!asset_proxy_enabled || url === null) return undefined
  const proxy = { url, allowlist: [...asset_proxy_whitelist, site.host] }
  try {
    const { asset_proxy_secret_key: secret } = openSettings(secrets, { asset_proxy_secret_key })
    return { ...proxy, secret: secret ?? '' }
  } catch (error) {
    log.error({ err: error }, 'asset_proxy_secret_key cannot be decrypted: external images are not shown')
    return { ...proxy, secret: '' }
  }
}

type ProxySources = Pick<Ctx, 'settings' | 'secrets' | 'site' | 'log'>

/** What the renderer needs of texts, and their places. */
type Prepared = { readonly documents: readonly MarkdownDocument[]; readonly places: readonly MarkdownPlace[] }

function prepare(siteUrl: string, assetProxy: AssetProxy | undefined, texts: readonly MarkdownText[]): Prepared {
  const documents = texts.map(({ text, place, inline, plain }) => {
    const links = linksIn(place, siteUrl)
    const context: MarkdownContext = {
      siteUrl,
      ...(inline && { inline }),
      ...(plain && { plain }),
      ...(links && { links }),
      ...(assetProxy && { assetProxy }),
    }
    return { text, context }
  })
  return { documents: Object.freeze(documents), places: Object.freeze(texts.map(({ place }) => place)) }
}

/** Renders with this renderer and, for external images, this proxy. */
export function markdownBy(renderer: MarkdownRenderer, assetProxy: AssetProxy | undefined): Markdown {
  /** Of lists of texts that are frozen, and so the same when they are rendered again. */
  const known = new WeakMap<readonly MarkdownText[], { readonly siteUrl: string; readonly prepared: Prepared }>()
  const preparedOf = (siteUrl: string, texts: readonly MarkdownText[]): Prepared => {
    const before = known.get(texts)
    if (before?.siteUrl === siteUrl) return before.prepared
    const prepared = prepare(siteUrl, assetProxy, texts)
    if (Object.isFrozen(texts)) known.set(texts, { siteUrl, prepared })
    return prepared
  }
  return {
    async html(ctx: Ctx, texts: readonly MarkdownText[]) {
      const { site, shareKey, settings, signal } = ctx
      const { documents, places } = preparedOf(site.url, texts)
      const version = settings.local_markdown_version
      const rendered = await renderer.render(documents, { caller: shareKey, version, signal })
      return withReferences(ctx, places, rendered)
    },
  }
}
