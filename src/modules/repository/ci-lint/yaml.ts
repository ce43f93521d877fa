import { type CollectionTag, type CST, isScalar, isSeq, LineCounter, Parser, parseDocument, Scalar } from 'yaml'
import { maxBytes, tooLarge } from './result.ts'

/** More limits on a configuration file. */
const maxDepth = 50
const maxAliases = 200
/** Maximum characters of an error message, which may repeat the input. */
const maxMessage = 200

/** `!reference [job, keyword]`: the value of a keyword elsewhere. */
export class Reference {
  readonly path: readonly string[]
  constructor(path: readonly string[]) {
    this.path = path
  }
}

const reference: CollectionTag = {
  tag: '!reference',
  collection: 'seq',
  resolve: (node) =>
    new Scalar(
      new Reference(isSeq(node) ? node.items.map((item) => String(isScalar(item) ? item.value : '')) : []),
    ) as never,
}

export type Parsed = { readonly value: unknown } | { readonly error: string }

/** Parses a configuration. Never throws; hostile input costs little, because depth and aliases are limited. */
export function parseYaml(text: string): Parsed {
  if (Buffer.byteLength(text) > maxBytes) return { error: tooLarge }
  try {
    if (isTooDeep(text)) return { error: `the values are nested more than ${maxDepth} levels deep` }
    // Unique keys would be compared in pairs: 40,000 of them took more than a minute.
    const lines = new LineCounter()
    const document = parseDocument(text, {
      lineCounter: lines,
      merge: true,
      uniqueKeys: false,
      customTags: [reference],
      // The text of every error would be made, each from the whole file.
      prettyErrors: false,
      logLevel: 'silent',
    })
    const [error] = document.errors
    if (error) {
      const { line, col } = lines.linePos(error.pos[0])
      return { error: `${error.message.split('\n', 1)[0]!.slice(0, maxMessage)} at line ${line}, column ${col}` }
    }
    return { value: document.toJS({ maxAliasCount: maxAliases }) }
  } catch (error) {
    return { error: error instanceof ReferenceError ? 'the aliases expand to too much' : 'the file cannot be parsed' }
  }
}

/** Walks the tokens, which the parser makes without recursion; the next step of the library recurses. */
function isTooDeep(text: string): boolean {
  const open: { token: CST.Token; depth: number }[] = []
  for (const token of new Parser().parse(text)) open.push({ token, depth: 0 })
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next
    if (depth > maxDepth) return true
    if (token.type === 'document' && token.value) open.push({ token: token.value, depth })
    if ('items' in token)
      for (const { key, value } of token.items) {
        if (key) open.push({ token: key, depth: depth + 1 })
        if (value) open.push({ token: value, depth: depth + 1 })
      }
  }
  return false
}
