import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** A compiled expression: whether it matches a text, by default anywhere in it. Linear time. */
export type Expression = (text: string) => boolean

export type ExpressionOptions = {
  /** `^` and `$` match at every line, as with `(?m)`. */
  readonly multiline?: boolean
  readonly ignoreCase?: boolean
  /** It matches only the whole text. */
  readonly whole?: boolean
}

/** Compiling takes milliseconds, and pushes use the same expressions again. */
const compiled = new LRUCache<string, Expression>({ max: 500 })

/**
 * Maximum sum of the counts of `{n,m}`: a counted repeat is compiled as copies, up to a thousand for a few characters. Known before the
 * expression is compiled.
 */
const maxRepeats = 1000

/**
 * Maximum instructions of a compiled expression, because each character of a text may take a step for each of them. Repeats of long
 * expressions, and repeats within repeats, have more than their counts say.
 */
const maxInstructions = 10_000

const tooLarge = () => new Error('pattern too large - compile failed')

/** Compiles an expression in RE2 syntax; cached. Throws if the syntax is wrong, or a match could take too long. */
export function compileExpression(text: string, options: ExpressionOptions = {}): Expression {
  const key = `${options.multiline === true}${options.ignoreCase === true}${options.whole === true} ${text}`
  const known = compiled.get(key)
  if (known) return known
  let repeats = 0
  for (const [, least, most] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) repeats += Number(most || least)
  if (repeats > maxRepeats) throw tooLarge()
  const flags = (options.multiline ? RE2JS.MULTILINE : 0) | (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  const expression = RE2JS.compile(text, flags)
  if (expression.programSize() > maxInstructions) throw tooLarge()
  const matches: Expression = options.whole ? (value) => expression.matches(value) : (value) => expression.test(value)
  compiled.set(key, matches)
  return matches
}

/** Why a text is no expression in RE2 syntax; `undefined` if it is one. */
export function expressionViolation(text: string): string | undefined {
  try {
    compileExpression(text)
    return undefined
  } catch (error) {
    return `not valid RE2 syntax: ${error instanceof Error ? error.message : 'unreadable'}`
  }
}
