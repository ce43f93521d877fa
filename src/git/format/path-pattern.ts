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

/** Whether a path (segment by segment) matches. Time is at most the product of the lengths. */
export const matchesPath = (pattern: PathPattern, path: readonly string[]): boolean =>
  matches<'**', readonly Token[], string>(pattern, path, '**', matchesSegment)

const matchesSegment = (segment: readonly Token[], text: string): boolean =>
  matches<'*', Exclude<Token, '*'>, string>(segment, text, '*', (token, character) => token(character))

/** Matches items one by one; `star` stands for any number of them. Only the last star is tried again, so time is bounded. */
function matches<S extends string, P, T>(
  pattern: readonly (S | P)[],
  items: ArrayLike<T>,
  star: S,
  matchesOne: (wanted: P, item: T) => boolean,
): boolean {
  let at = 0
  let index = 0
  let lastStar = -1
  let resume = 0
  while (at < items.length) {
    const wanted = pattern[index]
    if (wanted === star) {
      lastStar = index++
      resume = at
    } else if (index < pattern.length && matchesOne(wanted as P, items[at]!)) {
      index++
      at++
    } else if (lastStar >= 0) {
      index = lastStar + 1
      at = ++resume
    } else return false
  }
  while (pattern[index] === star) index++
  return index === pattern.length
}
