/** Whether a text matches a pattern. */
export type Glob = (text: string) => boolean

/** Compiles a pattern of names, such as `release/*`: `*` matches any text, slashes and the empty text included. Time is linear. */
export function nameGlob(pattern: string): Glob {
  const pieces = pattern.split('*').map(literalPiece)
  return (name) => matchesPieces(pieces, name)
}

/** A compiled pattern of paths, which are given as their segments. */
export type PathPattern = {
  readonly matches: (segments: readonly string[]) => boolean
  /** A segment that every matching path has, if one is certain. */
  readonly segment?: string
  /** How the last segment of every matching path ends, from its last dot on, if that is certain. */
  readonly extension?: string
}

/**
 * Compiles a pattern of paths as git's wildmatch does: within a segment `*`, `?`, `[a-z]`, `[!a]`, `[[:digit:]]` and `\` as
 * escape; as a whole segment `**` matches any number of folders, at the end everything inside. A malformed pattern matches
 * nothing. Time is at most the product of the lengths.
 */
export function pathPattern(pattern: string): PathPattern {
  const parsed = parsePath(pattern)
  if (!parsed) return { matches: () => false }
  const segments = parsed.map(compileSegment)
  // A trailing `**` matches the content of a folder, not the folder.
  if (segments.at(-1) === '**') segments.push([literalPiece(''), literalPiece('')])
  const pieces = splitAt<'**', Segment>('**', segments).map((group) =>
    pieceOf<Segment, readonly string[]>(group, matchesPieces),
  )
  const literals = parsed.flatMap((tokens) => literalOf(tokens) ?? [])
  // The longest is probably the rarest.
  const [segment] = literals.toSorted((a, b) => b.length - a.length)
  const extension = extensionOf(literalOf(parsed.at(-1)!.slice(parsed.at(-1)!.lastIndexOf(star) + 1)) ?? '')
  return {
    matches: (path) => matchesPieces(pieces, path),
    ...(segment !== undefined && { segment }),
    ...(extension !== '' && { extension }),
  }
}

/** From the last dot on; empty without one. */
export const extensionOf = (name: string): string => /\.[^.]*$/.exec(name)?.[0] ?? ''

const literalOf = (tokens: readonly (typeof star | Token)[]): string | undefined =>
  tokens.every((token) => typeof token === 'string') ? tokens.join('') : undefined

/** What a pattern requires between two stars. `Items` are characters of a text, or segments of a path. */
type Piece<Items> = {
  readonly length: number
  readonly isAt: (items: Items, at: number) => boolean
  /** The first place at or after `from`, or -1. */
  readonly find: (items: Items, from: number) => number
}

/**
 * Whether the items are the pieces with anything in between. A piece that matches as far left as possible leaves the
 * most for the rest, so no choice is tried twice.
 */
function matchesPieces<Items extends { readonly length: number }>(
  pieces: readonly Piece<Items>[],
  items: Items,
): boolean {
  const [first, last] = [pieces[0]!, pieces.at(-1)!]
  if (pieces.length === 1) return items.length === first.length && first.isAt(items, 0)
  const end = items.length - last.length
  if (end < first.length || !first.isAt(items, 0) || !last.isAt(items, end)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = piece.find(items, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

const literalPiece = (text: string): Piece<string> => ({
  length: text.length,
  isAt: (items, at) => items.startsWith(text, at),
  find: (items, from) => items.indexOf(text, from),
})

/** A piece whose parts each match one item. */
function pieceOf<Part, Items extends ArrayLike<unknown>>(
  parts: readonly Part[],
  matchesPart: (part: Part, item: Items[number]) => boolean,
): Piece<Items> {
  const isAt = (items: Items, at: number) => parts.every((part, n) => matchesPart(part, items[at + n]!))
  return {
    length: parts.length,
    isAt,
    find(items, from) {
      for (let at = from; at + parts.length <= items.length; at++) if (isAt(items, at)) return at
      return -1
    },
  }
}

/** A literal character, or the test of one. */
type Token = string | ((character: string) => boolean)
type Segment = readonly Piece<string>[]

const textPiece = (tokens: readonly Token[]): Piece<string> =>
  tokens.every((token) => typeof token === 'string')
    ? literalPiece(tokens.join(''))
    : pieceOf<Token, string>(tokens, (token, item) => (typeof token === 'string' ? token === item : token(item)))

function splitAt<S, T>(separator: S, items: readonly (S | T)[]): T[][] {
  const groups: T[][] = [[]]
  for (const item of items)
    if (item === separator) groups.push([])
    else groups.at(-1)!.push(item as T)
  return groups
}

const star = Symbol('star')

/** Parses the segments of a pattern; `undefined` if it is malformed. A slash within brackets separates nothing. */
function parsePath(pattern: string): (typeof star | Token)[][] | undefined {
  const segments: (typeof star | Token)[][] = [[]]
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!
    const segment = segments.at(-1)!
    if (character === '/' || pattern.startsWith('\\/', at)) {
      segments.push([])
      if (character === '\\') at++
    } else if (character === '*') segment.push(star)
    else if (character === '?') segment.push(() => true)
    else if (character === '[') {
      const bracket = parseBracket(pattern, at)
      if (!bracket) return undefined
      segment.push(bracket.token)
      at = bracket.end
    } else if (character !== '\\') segment.push(character)
    else if (++at < pattern.length) segment.push(pattern[at]!)
    else return undefined
  }
  return segments
}

const compileSegment = (tokens: readonly (typeof star | Token)[]): Segment | '**' =>
  tokens.length > 1 && tokens.every((token) => token === star)
    ? '**'
    : splitAt<typeof star, Token>(star, tokens).map(textPiece)

const characterClass = /\[:([^\]]*):\]/y

const characterClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-f]/i,
}

/** Parses the bracket expression that starts at `start`: the test of a character, and where its `]` is. */
function parseBracket(pattern: string, start: number): { token: Token; end: number } | undefined {
  const isNegated = '!^'.includes(pattern[start + 1] ?? ' ')
  const first = start + (isNegated ? 2 : 1)
  const members: ((character: string) => boolean)[] = []
  /** The character before a `-` that starts a range. */
  let previous: string | undefined
  let at = first
  // A `]` at the beginning is a member.
  for (; at < pattern.length && (pattern[at] !== ']' || at === first); at++) {
    characterClass.lastIndex = at
    const named = characterClass.exec(pattern)
    if (named) {
      const expression = characterClasses[named[1]!]
      if (!expression) return undefined
      members.push((character) => expression.test(character))
      at += named[0].length - 1
      previous = undefined
    } else if (pattern[at] === '-' && previous !== undefined && ![undefined, ']'].includes(pattern[at + 1])) {
      const [from, to] = [previous, pattern[pattern[++at] === '\\' ? ++at : at]]
      if (to === undefined) return undefined
      members.push((character) => character >= from && character <= to)
      previous = undefined
    } else {
      const member = pattern[pattern[at] === '\\' ? ++at : at]
      if (member === undefined) return undefined
      members.push((character) => character === member)
      previous = member
    }
  }
  if (at >= pattern.length) return undefined
  return { token: (character) => members.some((member) => member(character)) !== isNegated, end: at }
}
