import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/** A compiled expression: whether it matches anywhere in a text. Linear time. */
export type Expression = (text: string) => boolean

export type ExpressionOptions = {
  /** `^` and `$` match at every line, as with `(?m)`. */
  readonly multiline?: boolean
  readonly ignoreCase?: boolean
}

/** Compiling takes milliseconds, and pushes use the same expressions again. */
const compiled = new LRUCache<string, Expression>({ max: 500 })

/** Maximum sum of the counts of `{n,m}`: a counted repeat is compiled as copies, up to a thousand for a few characters. */
const maxRepeats = 1000

/** Compiles an expression in RE2 syntax; cached. Throws if the syntax is wrong. */
export function compileExpression(text: string, options: ExpressionOptions = {}): Expression {
  const key = `${options.multiline === true}${options.ignoreCase === true} ${text}`
  const known = compiled.get(key)
  if (known) return known
  let repeats = 0
  for (const [, least, most] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) repeats += Number(most || least)
  if (repeats > maxRepeats) throw new Error('pattern too large - compile failed')
  const flags = (options.multiline ? RE2JS.MULTILINE : 0) | (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  const expression = RE2JS.compile(text, flags)
  const matches: Expression = (value) => expression.test(value)
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
