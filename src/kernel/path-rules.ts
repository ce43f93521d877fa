import { extensionOf, type PathPattern, pathPattern } from './glob.ts'

type Rule<T> = { readonly at: number; readonly matches: PathPattern['matches']; readonly value: T }

/**
 * Rules for paths of which the last that matches counts, as in `.gitattributes`. A path is compared only with rules whose pattern
 * demands a name or an extension that it has, and with those that demand neither.
 */
export class PathRules<T> {
  /** By the name that the pattern demands, or by its extension with a slash before, which no name has. The last rule first. */
  readonly #demanding = new Map<string, Rule<T>[]>()
  /** The last first. */
  readonly #others: Rule<T>[] = []
  #comparisons = 0

  constructor(rules: readonly { readonly pattern: string; readonly value: T }[]) {
    for (const [at, { pattern, value }] of [...rules.entries()].reverse()) {
      const { matches, segment, extension } = pathPattern(pattern)
      const key = segment ?? (extension && `/${extension}`)
      const found = key === undefined ? this.#others : this.#demanding.get(key)
      if (found) found.push({ at, matches, value })
      else this.#demanding.set(key!, [{ at, matches, value }])
    }
  }

  /** Comparisons of a path with a pattern until now. */
  get comparisons(): number {
    return this.#comparisons
  }

  /** The value of the last rule that matches the path and that `isWanted`. */
  last(path: string, isWanted: (value: T) => boolean = () => true): T | undefined {
    const segments = path.split('/')
    let best: Rule<T> | undefined
    for (const key of new Set(['', `/${extensionOf(segments.at(-1)!)}`, ...segments]))
      for (const rule of (key === '' ? this.#others : this.#demanding.get(key)) ?? []) {
        if (best && rule.at < best.at) break
        if (!isWanted(rule.value)) continue
        this.#comparisons++
        if (!rule.matches(segments)) continue
        best = rule
        break
      }
    return best?.value
  }
}
