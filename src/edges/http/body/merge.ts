import type { RawParams } from '../../../api/params/raw.ts'
import { emptyHash } from './brackets.ts'

/** Merges all parameters, shallowly: path parameters override those of the body, which override those of the query. */
export function mergeRaw(path: RawParams, body: RawParams, query: RawParams): RawParams {
  const merged = emptyHash()
  for (const source of [query, body, path]) {
    for (const name of Object.keys(source)) {
      if (name !== '__proto__') merged[name] = source[name]
    }
  }
  return merged
}
