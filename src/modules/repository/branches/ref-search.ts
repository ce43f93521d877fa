import { ParameterError } from '../../../api/params/parameter-error.ts'
import { compileExpression, type Expression } from '../../../kernel/expression.ts'
import { Turns } from '../../../kernel/turns.ts'

/** Names that match a search, ignoring case: `^prefix`, `suffix$`, both, or a part. An exact match comes first. */
export function searchNames<Named>(all: readonly Named[], search: string, nameOf: (each: Named) => string): Named[] {
  const begins = search.startsWith('^')
  const ends = search.endsWith('$') && search.length > 1
  const text = search.slice(begins ? 1 : 0, ends ? -1 : undefined).toLowerCase()
  const found = all.filter((each) => {
    const name = nameOf(each).toLowerCase()
    if (begins && ends) return name === text
    return begins ? name.startsWith(text) : ends ? name.endsWith(text) : name.includes(text)
  })
  const exact = begins || ends ? -1 : found.findIndex((each) => nameOf(each) === search)
  return exact <= 0 ? found : [found[exact]!, ...found.slice(0, exact), ...found.slice(exact + 1)]
}

/** Maximum characters of an expression. */
export const maxExpressionLength = 255

/** Names in which the expression matches anywhere, in their order. Throws `ParameterError` if it is not in RE2 syntax. */
export async function matchNames<Named>(
  all: readonly Named[],
  text: string,
  nameOf: (each: Named) => string,
): Promise<Named[]> {
  const matches = compiledOrRefused(text)
  const turns = new Turns()
  const found: Named[] = []
  for (const each of all) {
    if (turns.isOver) await turns.next()
    if (matches(nameOf(each))) found.push(each)
  }
  return found
}

function compiledOrRefused(text: string): Expression {
  try {
    return compileExpression(text)
  } catch {
    throw new ParameterError('regex is invalid')
  }
}
