import type { Endpoint } from '../../api/endpoint.ts'
import { apiPrefix } from './mount.ts'

/** `/projects/:id/repository/archive` as a pattern of whole paths; a parameter is one segment, undecoded. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${apiPrefix}${path.replace(/[.+*?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}/?$`)

/**
 * Which verbs a path offers; none when nobody knows it. Looks at every path there is, so it is for requests that found
 * no route.
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
