import type { RawParams } from '../../../api/params/raw.ts'
import { emptyHash } from './brackets.ts'

/** One tree of all parameters. Shallow: a name in the path hides the same name in the body, and that one the query's. */
export function mergeRaw(path: RawParams, body: RawParams, query: RawParams): RawParams {
  const merged = emptyHash()
  for (const source of [query, body, path]) {
    for (const name of Object.keys(source)) {
      if (name !== '__proto__') merged[name] = source[name]
    }
  }
  return merged
}
