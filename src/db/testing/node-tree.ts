/** A node of PostgreSQL's parse tree: its tag, and its fields as text, nodes or lists. */
export type Node = { readonly tag: string; readonly [field: string]: Value }
export type Value = string | Node | readonly Value[] | undefined

/** PostgreSQL escapes blanks, brackets and backslashes inside of a token. */
const tokens = /[{}()]|(?:\\.|[^\s{}()\\])+/gs

const isField = (token: string | undefined): boolean => token !== undefined && token.length > 1 && token[0] === ':'

const unescaped = (token: string): string => token.replace(/^"(.*)"$/s, '$1').replace(/\\(.)/gs, '$1')

/** Reads what `debug_print_parse` prints. */
export function readNode(printed: string): Node {
  const all = printed.match(tokens) ?? []
  let at = 0

  function node(): Node {
    const read: Record<string, Value> = { tag: all[at++]! }
    while (all[at] !== '}') {
      const field = all[at++]!.slice(1)
      const values: Value[] = []
      while (all[at] !== '}' && !isField(all[at])) values.push(value())
      read[field] = values.length === 1 ? values[0] : values
    }
    at++
    return read as Node
  }

  function list(): Value[] {
    const values: Value[] = []
    while (all[at] !== ')') values.push(value())
    at++
    return values
  }

  function value(): Value {
    const token = all[at++]
    if (token === undefined) throw new Error('the parse tree ends too early')
    if (token === '{') return node()
    if (token === '(') return list()
    return token === '<>' ? undefined : unescaped(token)
  }

  const root = value()
  if (!isNode(root)) throw new Error('no parse tree')
  return root
}

export const isNode = (value: Value): value is Node => typeof value === 'object' && 'tag' in value

/** The nodes of a list; none for an empty one. */
export const nodesOf = (value: Value): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

/** Calls `visit` with every node below and including `value`. */
export function walk(value: Value, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit)
  else if (isNode(value)) {
    visit(value)
    for (const each of Object.values(value)) if (typeof each === 'object') walk(each, visit)
  }
}
