import { withoutTrailing } from '../kernel/without-ends.ts'
/** The URLs of this installation. */
export type Site = {
  /** `https://git.example`, without a trailing slash. */
  readonly url: string
  /** `https://git.example/api/v4` */
  readonly apiUrl: string
  readonly host: string
  /** Base of HTTP repository URLs, if it is not `url`. */
  readonly cloneUrl?: string
  /** Port of Git over SSH; 0 if disabled. */
  readonly sshPort: number
}

export function siteAt(externalUrl: string, sshPort: number): Site {
  const url = withoutTrailing(externalUrl, '/')
  return { url, apiUrl: `${url}/api/v4`, host: new URL(url).hostname, sshPort }
}

const sitesWithCloneUrl = new WeakMap<Site, Site>()

/** The site with the base URL from the settings, if set; the same object while the base URL is the same. */
export function withCloneUrl(site: Site, root: string | null): Site {
  if (!root) return site
  const cloneUrl = withoutTrailing(root, '/')
  const known = sitesWithCloneUrl.get(site)
  if (known?.cloneUrl === cloneUrl) return known
  const made = { ...site, cloneUrl }
  sitesWithCloneUrl.set(site, made)
  return made
}

export const httpUrlToRepo = (site: Site, fullPath: string): string => `${site.cloneUrl ?? site.url}/${fullPath}.git`

export const sshUrlToRepo = (site: Site, fullPath: string): string =>
  site.sshPort === 22 || site.sshPort === 0
    ? `git@${site.host}:${fullPath}.git`
    : `ssh://git@${site.host}:${site.sshPort}/${fullPath}.git`
