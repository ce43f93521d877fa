import type { Ctx, Markdown } from '../../../api/ctx.ts'
import type { MarkdownPlace, MarkdownText } from '../../../api/markdown.ts'
import type { MarkdownRenderer } from '../../../markdown/renderer.ts'
import type { AssetProxy, MarkdownContext, RelativeLinks } from '../../../markdown/types.ts'
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

/** Renders with this renderer and, for external images, this proxy. */
export const markdownBy = (renderer: MarkdownRenderer, assetProxy: AssetProxy | undefined): Markdown => ({
  async html(ctx: Ctx, texts: readonly MarkdownText[]) {
    const { site, shareKey, settings, signal } = ctx
    const documents = texts.map(({ text, place, inline, plain }) => {
      const links = linksIn(place, site.url)
      const context: MarkdownContext = {
        siteUrl: site.url,
        ...(inline && { inline }),
        ...(plain && { plain }),
        ...(links && { links }),
        ...(assetProxy && { assetProxy }),
      }
      return { text, context }
    })
    const version = settings.local_markdown_version
    const rendered = await renderer.render(documents, { caller: shareKey, version, signal })
    return withReferences(
      ctx,
      texts.map(({ place }, index) => ({ place, rendered: rendered[index]! })),
    )
  },
})
