import type { Ctx, Markdown } from '../../../api/ctx.ts'
import type { MarkdownPlace, MarkdownText } from '../../../api/markdown.ts'
import type { Site } from '../../../api/site.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import type { MarkdownRenderer } from '../../../markdown/renderer.ts'
import type { AssetProxy, MarkdownContext, RelativeLinks } from '../../../markdown/types.ts'
import type { Settings } from '../../../settings/settings.ts'
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
    case 'group':
      return { home: `${siteUrl}/groups/${place.full_path}`, folder: '' }
    case 'instance':
      return undefined
  }
}

/** The proxy of external images, if it is enabled. */
export function assetProxyOf(settings: Settings, secrets: Secrets, { host }: Site): AssetProxy | undefined {
  const { asset_proxy_enabled, asset_proxy_url: url, asset_proxy_secret_key, asset_proxy_whitelist } = settings
  if (!asset_proxy_enabled || url === null) return undefined
  const { asset_proxy_secret_key: secret } = openSettings(secrets, { asset_proxy_secret_key })
  return { url, secret: secret ?? '', allowlist: [...asset_proxy_whitelist, host] }
}

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
