/** A line of a CODEOWNERS file that gives files to somebody, or (without owners) takes them from whoever had them. */
type Entry = { readonly pattern: readonly string[]; readonly owned: boolean }

/** Beyond this nobody can mean it; what follows is left out. */
const maxEntries = 10_000

/** Which files have owners. Patterns are those of `.gitignore` without `!`; the last that matches counts. */
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
    const segments = path.split('/')
    return this.#entries.find(({ pattern }) => matchesSegments(pattern, segments))?.owned ?? false
  }
}

/** `docs/ @ann ann@example.com`; blanks in a path stand behind a backslash. */
function parseLine(line: string): Entry | undefined {
  const words = line.trim().match(/(?:\\.|[^\s\\])+/g) ?? []
  const [first, ...rest] = words
  // A section heading is no pattern.
  if (first === undefined || first.startsWith('#') || /^\^?\[[^\]]*\](\[\d+\])?$/.test(line.trim())) return undefined
  const path = first.replace(/\\(.)/g, '$1')
  const owned = rest.some((word) => word.includes('@'))
  const anchored = path.startsWith('/')
  const segments = path.split('/').filter((segment) => segment !== '')
  return {
    owned,
    pattern: [...(anchored ? [] : ['**']), ...segments, ...(path.endsWith('/') ? ['**', '*'] : [])],
  }
}

/** `**` stands for any number of folders. Time is at most the product of the lengths. */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let at = 0
  let index = 0
  let star = -1
  let resume = 0
  while (at < path.length) {
    if (pattern[index] === '**') {
      star = index++
      resume = at
    } else if (index < pattern.length && matchesSegment(pattern[index]!, path[at]!)) {
      index++
      at++
    } else if (star >= 0) {
      index = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[index] === '**') index++
  return index === pattern.length
}

/** `*` and `?` within one segment. */
function matchesSegment(pattern: string, text: string): boolean {
  let at = 0
  let index = 0
  let star = -1
  let resume = 0
  while (at < text.length) {
    if (pattern[index] === '*') {
      star = index++
      resume = at
    } else if (index < pattern.length && (pattern[index] === '?' || pattern[index] === text[at])) {
      index++
      at++
    } else if (star >= 0) {
      index = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[index] === '*') index++
  return index === pattern.length
}
