import { type Glob, pathGlob } from '../../../kernel/glob.ts'

/** A line of a CODEOWNERS file that assigns owners to files or, without owners, removes them. */
type Entry = { readonly matches: Glob; readonly owned: boolean }

/** Maximum entries; further lines are ignored. */
const maxEntries = 10_000

/** Which files have owners. Patterns are those of `.gitignore` without `!`; the last match counts. */
export class CodeOwners {
  readonly #entries: readonly Entry[]

  constructor(text: string) {
    this.#entries = text
      .split('\n', maxEntries)
      .flatMap((line) => parseLine(line) ?? [])
      .reverse()
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  owns(path: string): boolean {
    return this.#entries.find(({ matches }) => matches(path))?.owned ?? false
  }
}

/** Parses a line such as `docs/ @ann ann@example.com`; blanks in a path are escaped with a backslash. */
function parseLine(line: string): Entry | undefined {
  const words = line.trim().match(/(?:\\.|[^\s\\])+/g) ?? []
  const [first, ...rest] = words
  // A section heading is not a pattern.
  if (first === undefined || first.startsWith('#') || /^\^?\[[^\]]*\](\[\d+\])?$/.test(line.trim())) return undefined
  const owned = rest.some((word) => word.includes('@'))
  const root = first.startsWith('/') ? '' : '**/'
  const path = first.replaceAll(/\/+/g, '/').replace(/^\//, '')
  const content = first.endsWith('/') ? '**' : ''
  return { owned, matches: pathGlob(root + path + content) }
}
