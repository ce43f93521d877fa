/** One position of a segment: `*` for any text, or a predicate for one character. */
type Token = '*' | ((character: string) => boolean)

/** A pattern of paths, segment by segment; `**` matches any number of folders. */
export type PathPattern = readonly ('**' | readonly Token[])[]

/**
 * Compiles segments as in `.gitignore`: `*` and `?` within a segment, and with `classes` also `[a-z]`, `[!a]` and `\` as
 * escape.
 */
export const compilePattern = (segments: readonly string[], { classes = false } = {}): PathPattern =>
  segments.map((segment) => (segment === '**' ? segment : tokensOf(segment, classes)))

const escaped = /^\\(.)/s
const bracket = /^\[([!^]?)(\]?[^\]]*)\]/

function tokensOf(segment: string, classes: boolean): Token[] {
  const tokens: Token[] = []
  for (let rest = segment; rest !== ''; ) {
    const special = classes ? (escaped.exec(rest) ?? bracket.exec(rest)) : null
    const length = special?.[0].length ?? 1
    if (special?.[2] !== undefined) tokens.push(oneOf(special[2], special[1] !== ''))
    else if (special) tokens.push(equalTo(special[1]!))
    else if (rest[0] === '*') tokens.push('*')
    else tokens.push(rest[0] === '?' ? () => true : equalTo(rest[0]!))
    rest = rest.slice(length)
  }
  return tokens
}

const equalTo = (wanted: string) => (character: string) => character === wanted

/** Parses the inside of a bracket expression: `a-z0-9_`. */
function oneOf(members: string, negated: boolean): Token {
  const ranges = [...members.matchAll(/(.)-(.)|(.)/gs)].map(([, from, to, one]) => [from ?? one!, to ?? one!] as const)
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== negated
}

/** Whether a path, split into segments, matches. Takes time at most proportional to the product of the lengths. */
export function matchesPath(pattern: PathPattern, path: readonly string[]): boolean {
  let at = 0
  let index = 0
  let star = -1
  let resume = 0
  while (at < path.length) {
    const wanted = pattern[index]
    if (wanted === '**') {
      star = index++
      resume = at
    } else if (wanted !== undefined && matchesSegment(wanted, path[at]!)) {
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

function matchesSegment(pattern: readonly Token[], text: string): boolean {
  let at = 0
  let index = 0
  let star = -1
  let resume = 0
  while (at < text.length) {
    const wanted = pattern[index]
    if (wanted === '*') {
      star = index++
      resume = at
    } else if (wanted?.(text[at]!)) {
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
