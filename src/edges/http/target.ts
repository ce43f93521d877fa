/** Path and query of a request target. A query may contain `?` itself, which many clients do not encode; undefined without one. */
export function splitTarget(target: string): { readonly path: string; readonly query: string | undefined } {
  const at = target.indexOf('?')
  return at < 0 ? { path: target, query: undefined } : { path: target.slice(0, at), query: target.slice(at + 1) }
}

/** The path of the URL of the service, without a slash at its end: '' for a host of its own. */
export const sitePathOf = (siteUrl: string): string => new URL(siteUrl).pathname.replace(/\/$/, '')
