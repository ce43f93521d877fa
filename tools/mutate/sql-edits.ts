import { type Edit, removal, replacement } from './edit.ts'

type Token = { readonly text: string; readonly start: number; readonly end: number }

const tokenPattern = /'(?:[^']|'')*'|[a-z_][\w$.]*|\d+|<>|>=|<=|\|\||&&|::|->>|->|[=<>(),]|\S/gi

/** Comparisons and functions with the neighbour that replaces each. */
const neighbours: ReadonlyMap<string, string> = new Map([
  ['=', '<>'],
  ['<>', '='],
  ['>=', '>'],
  ['>', '>='],
  ['<=', '<'],
  ['<', '<='],
  ['least', 'greatest'],
  ['greatest', 'least'],
  ['max', 'min'],
  ['min', 'max'],
  ['true', 'false'],
  ['false', 'true'],
])

/** Words that end a condition. */
const breaks = new Set(
  'where on having when select from group order limit union returning join left inner cross set then else end case using for do as with delete update insert values ,'.split(
    ' ',
  ),
)
/** Words after which a condition stands. */
const opens = new Set(['where', 'on', 'having'])

/**
 * Edits of a statement, or of a part of one, between two offsets of a source file. `holes` are the `${…}` in it, which
 * count as one word each.
 */
export function sqlEdits(
  source: string,
  start: number,
  end: number,
  holes: readonly { readonly start: number; readonly end: number }[] = [],
): Edit[] {
  let text = source.slice(start, end)
  for (const hole of holes)
    text = text.slice(0, hole.start - start) + 'h'.repeat(hole.end - hole.start) + text.slice(hole.end - start)
  const tokens = [...text.matchAll(tokenPattern)].map(
    ({ 0: word, index }): Token => ({
      text: word.toLowerCase(),
      start: start + index,
      end: start + index + word.length,
    }),
  )
  return [...wordEdits(source, tokens), ...droppedOperands(source, tokens)]
}

function wordEdits(source: string, tokens: readonly Token[]): Edit[] {
  const edits: Edit[] = []
  let isAssigning = false
  for (const [index, { text, start, end }] of tokens.entries()) {
    const [before, after] = [tokens[index - 1]?.text, tokens[index + 1]?.text]
    if (text === 'set') isAssigning = true
    if (text === 'where' || text === 'from') isAssigning = false
    const other = neighbours.get(text)
    if (other !== undefined && !(text === '=' && isAssigning)) edits.push(replacement(source, start, end, other))
    else if (text === 'not' && before !== 'is') edits.push(removal(source, start, end))
    else if (text === 'is' && after === 'not') edits.push(replacement(source, start, tokens[index + 1]!.end, 'is'))
    else if (text === 'is') edits.push(replacement(source, start, end, 'is not'))
    else if ((text === 'exists' || (text === 'in' && after === '(')) && before !== 'not')
      edits.push(replacement(source, start, end, `not ${text}`))
  }
  return edits
}

/** A range of tokens: from the first to before the second index. */
type Range = readonly [from: number, to: number]

/** Leaves out each operand of `and` and `or`, and each condition that is a single one. */
function droppedOperands(source: string, tokens: readonly Token[]): Edit[] {
  const edits: Edit[] = []
  const drop = (operands: readonly Range[], connectors: readonly number[]): void => {
    for (const [index, [from, to]] of operands.entries()) {
      if (from === to) continue
      const isLast = index === operands.length - 1
      const first = isLast ? tokens[connectors[index - 1]!]! : tokens[from]!
      const connector = connectors[index]!
      // The part of a statement may end with `or`.
      const end = isLast ? tokens[to - 1]!.end : (tokens[connector + 1]?.start ?? tokens[connector]!.end)
      edits.push(removal(source, first.start, end))
    }
  }
  const split = ([from, to]: Range, word: string): { operands: Range[]; connectors: number[] } => {
    const connectors = topLevel(tokens, from, to).filter((index) => tokens[index]!.text === word)
    const starts = [from, ...connectors.map((index) => index + 1)]
    return { operands: starts.map((start, index): Range => [start, connectors[index] ?? to]), connectors }
  }
  const condition = (range: Range, isClause: boolean): void => {
    if (range[0] >= range[1]) return
    const ors = split(range, 'or')
    if (ors.connectors.length > 0) drop(ors.operands, ors.connectors)
    for (const operand of ors.operands) {
      const ands = split(operand, 'and')
      if (ands.connectors.length > 0) drop(ands.operands, ands.connectors)
      else if (isClause && ors.connectors.length === 0)
        edits.push(removal(source, tokens[range[0]]!.start, tokens[range[1] - 1]!.end, 'true'))
    }
  }
  for (const [from, to] of groupsOf(tokens)) {
    const stops = topLevel(tokens, from, to).filter((index) => breaks.has(tokens[index]!.text))
    for (const [index, start] of [from, ...stops.map((stop) => stop + 1)].entries())
      condition([start, stops[index] ?? to], start > from && opens.has(tokens[start - 1]!.text))
  }
  return edits
}

/** Indexes of the tokens of a range that are not within parentheses. */
function topLevel(tokens: readonly Token[], from: number, to: number): number[] {
  const found: number[] = []
  let depth = 0
  for (let index = from; index < to; index++) {
    const { text } = tokens[index]!
    if (text === ')') depth--
    if (depth === 0) found.push(index)
    if (text === '(') depth++
  }
  return found
}

/** All tokens, and what is within each pair of parentheses. */
function groupsOf(tokens: readonly Token[]): Range[] {
  const groups: Range[] = [[0, tokens.length]]
  const open: number[] = []
  for (const [index, { text }] of tokens.entries()) {
    if (text === '(') open.push(index + 1)
    if (text === ')' && open.length > 0) groups.push([open.pop()!, index])
  }
  return groups
}
