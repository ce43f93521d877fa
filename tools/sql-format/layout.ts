import { format } from 'sql-formatter'
import { spacedTokensOf } from './tokens.ts'

/** Texts with children between them: `exists (`, the clauses of the subquery, `) as found`. */
type Node = { readonly texts: string[]; readonly children: Node[][] }

type Space = {
  /** Maximum width of a line. */
  readonly width: number
  /** The width of a text; placeholders in it may be narrower or wider than they look. */
  readonly widthOf: (text: string) => number
}

/**
 * Breaks a statement, or a fragment of one, into lines. `sql-formatter` determines what belongs to what, with each piece in a
 * line of its own. Here, pieces that fit share a line: what fits into one line is one, and lists fill their lines.
 */
export function layOut(text: string, space: Space): string[] {
  const pieces = format(text, { language: 'postgresql', keywordCase: 'lower', expressionWidth: 1, tabWidth: 2 })
  return block(treeOf(spacedAs(text, pieces).split('\n')), 0, space)
}

/** `pieces` without the spaces before brackets that `text` does not have, as in `any(…)`. */
function spacedAs(text: string, pieces: string): string {
  const isDense = spacedTokensOf(text).map(({ token, spaced }) => !spaced && /^[([]/.test(token))
  let [made, at] = ['', 0]
  for (const [index, { token }] of spacedTokensOf(pieces).entries()) {
    const start = pieces.indexOf(token, at)
    const gap = pieces.slice(at, start)
    made += (isDense[index] && gap === ' ' ? '' : gap) + token
    at = start + token.length
  }
  return made
}

const opening = /(?:[([]|\bcase)$/
const closing = /^(?:[)\]]|end\b)/

/** Lines as nodes, by their indentation. */
function treeOf(lines: readonly string[]): Node[] {
  const root: Node[] = []
  const open: Node[][] = [root]
  for (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    const depth = (line.length - line.trimStart().length) / 2
    open.length = Math.min(open.length, depth + 1)
    while (open.length <= depth) {
      const parent = open.at(-1)!.at(-1) ?? nodeOf(open.at(-1)!, '')
      const list: Node[] = []
      parent.children.push(list)
      open.push(list)
    }
    const list = open.at(-1)!
    const last = list.at(-1)
    if (last && closing.test(text) && opening.test(last.texts.at(-1)!)) closeWith(last, text)
    else nodeOf(list, text)
  }
  return attached(root)
}

function nodeOf(list: Node[], text: string): Node {
  const node = { texts: [text], children: [] }
  list.push(node)
  return node
}

function closeWith(node: Node, text: string): void {
  if (node.children.length < node.texts.length) node.children.push([])
  node.texts.push(text)
}

const joining = /^(?:(?:left|right|full|inner|cross|natural|outer) )*join\b/

/** Conditions behind a join or `when` belong to it, and the action of `on conflict` to that. `sql-formatter` has them side by side. */
function attached(nodes: readonly Node[]): Node[] {
  const made: Node[] = []
  for (const node of nodes) {
    for (const [index, list] of node.children.entries()) node.children[index] = attached(list)
    const last = made.at(-1)
    const [before, text] = [last?.texts[0] ?? '', node.texts[0]!]
    const belongs =
      ((joining.test(before) || /^(?:when|else)\b/.test(before)) && /^(?:and|or)\b/.test(text)) ||
      (/^on conflict\b/.test(before) && /^(?:where|set)\b/.test(text))
    if (!last || !belongs) made.push(node)
    else {
      if (last.children.length < last.texts.length) last.children.push([])
      last.children.at(-1)!.push(node)
    }
  }
  return made
}

const isComment = (text: string): boolean => /(?:^|\s)--/.test(text)

/** Everything in one line; undefined if a comment ends a line. */
function flat(nodes: readonly Node[]): string | undefined {
  let line = ''
  for (const { texts, children } of nodes)
    for (const [index, text] of texts.entries()) {
      const inner = flat(children[index] ?? [])
      if (isComment(text) || inner === undefined) return undefined
      line = joined(joined(line, text), inner)
    }
  return line
}

const joined = (line: string, text: string): string =>
  `${line}${line === '' || text === '' || /[([]$/.test(line) || /^[)\]]/.test(text) ? '' : ' '}${text}`

const indented = (depth: number, text: string): string => `${'  '.repeat(depth)}${text}`

const fits = (line: string, { width, widthOf }: Space): boolean => widthOf(line) <= width

/** Nodes in one line if they fit. */
function block(nodes: readonly Node[], depth: number, space: Space): string[] {
  const line = flat(nodes)
  if (line !== undefined && fits(indented(depth, line), space)) return [indented(depth, line)]
  const branches = branchesOf(nodes)
  if (branches.length === 1) return listed([], nodes, depth, space)
  const lines = branches.map(flat)
  return lines.every((each) => each !== undefined && fits(indented(depth, each), space))
    ? lines.map((each) => indented(depth, each!))
    : listed([], nodes, depth, space)
}

/** The branches of a union, each but the first with its operator. */
function branchesOf(nodes: readonly Node[]): Node[][] {
  const branches: Node[][] = [[]]
  for (const node of nodes) {
    if (/^(?:union|except|intersect)\b/.test(node.texts[0]!)) branches.push([])
    branches.at(-1)!.push(node)
  }
  return branches
}

/** Items of a list behind the lines before them. Those that end in a comma share lines; others have their own. */
function listed(before: readonly string[], nodes: readonly Node[], depth: number, space: Space): string[] {
  const made = [...before]
  let sharesLine = false
  for (const node of nodes) {
    const text = flat([node])
    const longer = text === undefined ? undefined : `${made.at(-1)} ${text}`
    if (sharesLine && longer !== undefined && fits(longer, space)) made[made.length - 1] = longer
    else made.push(...linesOf(node, depth, space))
    sharesLine = text?.endsWith(',') === true && fits(indented(depth, text), space)
  }
  return made
}

const clause =
  /^(?:with|select|from|where|group by|having|order by|limit|offset|window|for|returning|values|set|insert into|delete from|update)\b/

function linesOf(node: Node, depth: number, space: Space): string[] {
  const line = flat([node])
  if (line !== undefined && fits(indented(depth, line), space)) return [indented(depth, line)]
  const made: string[] = []
  // A group that fits does not end its line.
  let begun: string | undefined
  for (const [index, text] of node.texts.entries()) {
    const children = node.children[index] ?? []
    const start = begun === undefined ? indented(depth, text) : joined(begun, text)
    const group = isComment(start) ? undefined : flat(children)
    const next = node.texts[index + 1]
    begun = undefined
    if (group !== undefined && next !== undefined && fits(joined(joined(start, group), next), space))
      begun = joined(start, group)
    else if (clause.test(text) && !opening.test(text)) made.push(...clauseLines(text, children, depth, space))
    else if (children.length === 0) made.push(start)
    else if (/\bcase$/.test(text)) made.push(start, ...listed([], children, depth + 1, space))
    else made.push(start, ...block(children, depth + 1, space))
  }
  return made
}

/** A clause with its first child behind the keyword, if that fits. */
function clauseLines(keyword: string, children: readonly Node[], depth: number, space: Space): string[] {
  const line = indented(depth, keyword)
  const [first, ...others] = children
  if (!first) return [line]
  // Several common table expressions stand side by side.
  const inner = others.length === 0 || keyword.startsWith('with') ? depth : depth + 1
  // What does not fit behind the keyword as it is may fit with its brackets in several lines.
  const narrow = { ...space, width: space.width - keyword.length - 1 }
  const [head, ...rest] = linesOf(first, inner, narrow)
  const start = `${line} ${head!.trimStart()}`
  const isShort = fits(start, space) && !isComment(line) && !isComment(first.texts[0]!)
  if (!isShort) return [line, ...block(children, depth + 1, space)]
  if (rest.length > 0 || !first.texts.at(-1)!.endsWith(',') || keyword.startsWith('with'))
    return listed([start, ...rest], others, inner, space)
  return filled(start, others, inner, space)
}

/** Like `listed`, with the first items in a line that is begun. */
function filled(start: string, nodes: readonly Node[], depth: number, space: Space): string[] {
  let line = start
  for (const [index, node] of nodes.entries()) {
    const text = flat([node])
    if (text === undefined || !fits(`${line} ${text}`, space)) return listed([line], nodes.slice(index), depth, space)
    line = `${line} ${text}`
  }
  return [line]
}
