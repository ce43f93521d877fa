import type { Endpoint } from '../../api/endpoint.ts'
import { apiPrefix } from './mount.ts'

/** `/projects/:id/repository/archive` as a pattern of whole paths; a parameter is one segment, undecoded. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${apiPrefix}${path.replace(/[.+*?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}/?$`)

/**
 * The HTTP methods that a path offers; empty for an unknown path. Tests every path, so it is only for requests without a route.
 */
export function verbsByPath(endpoints: readonly Endpoint[]): (path: string) => string[] {
  const verbs = new Map<string, Set<string>>()
  for (const { path, method } of endpoints) {
    const known = verbs.get(path) ?? new Set(['OPTIONS'])
    known.add(method)
    if (method === 'GET') known.add('HEAD')
    verbs.set(path, known)
  }
  let patterns: { pattern: RegExp; allowed: string[] }[] | undefined
  return (path) => {
    patterns ??= [...verbs].map(([each, known]) => ({ pattern: patternOf(each), allowed: [...known] }))
    return [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).flatMap(({ allowed }) => allowed))]
  }
}
