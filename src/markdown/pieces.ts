import type { Root, RootContent } from 'hast'
import type { Token } from 'markdown-it'
import { parseHtml } from './html.ts'
import { limits, TooComplex } from './limits.ts'
import type { Parsed } from './parser.ts'
import { Places, uncertain } from './places.ts'
import { type Size, treeOf } from './tree.ts'

/** A run of blocks: their tree, or the tokens of which only a parser of HTML knows the tree. */
type Piece = { readonly nodes: RootContent[] } | { readonly start: number; end: number }

/**
 * The tree that a parser of HTML makes of a document. It parses only the blocks with raw HTML, footnotes and the like, with places for the
 * others between them; if it is not certain that they belong there, it parses the whole document. Throws `TooComplex`.
 */
export function treeOfDocument(parsed: Parsed): Root {
  const size: Size = { elements: 0, depth: 0 }
  const pieces = piecesOf(parsed.tokens, size)
  const [first] = pieces
  if (pieces.length === 1 && 'nodes' in first!) {
    if (size.elements > limits.elements) throw new TooComplex()
    return { type: 'root', children: first.nodes }
  }
  return (pieces.length > 1 && treeOfPieces(parsed, pieces, size)) || parseHtml(parsed.toHtml(parsed.tokens))
}

/** The pieces of a document, in order. No two of the same kind follow each other. */
function piecesOf(tokens: readonly Token[], size: Size): Piece[] {
  const pieces: Piece[] = []
  let [start, depth] = [0, 0]
  for (let end = 1; end <= tokens.length; end++) {
    depth += tokens[end - 1]!.nesting
    if (depth > 0 && end < tokens.length) continue
    const last = pieces.at(-1)
    const nodes = nodesOf(tokens.slice(start, end), size)
    if (nodes === undefined) {
      if (last && 'end' in last) last.end = end
      else pieces.push({ start, end })
    } else if (last && 'nodes' in last) for (const node of nodes) last.nodes.push(node)
    else pieces.push({ nodes })
    start = end
  }
  return pieces
}

/** The nodes of a block; undefined if it is too complex, too: within a comment, for example, a parser of HTML may accept it. */
function nodesOf(block: readonly Token[], size: Size): RootContent[] | undefined {
  try {
    return treeOf(block, size)?.children
  } catch (error) {
    if (error instanceof TooComplex) return undefined
    throw error
  }
}

/** The tree of a document with blocks of both kinds; undefined if only a parser of the whole can say. */
function treeOfPieces({ tokens, toHtml }: Parsed, pieces: readonly Piece[], size: Size): Root | undefined {
  const places = new Places(size.depth)
  try {
    const markup = pieces.map((piece) =>
      'nodes' in piece ? places.add(piece.nodes) : toHtml(tokens.slice(piece.start, piece.end)),
    )
    const tree = parseHtml(markup.join(''), places.methods, size.elements - places.count)
    places.fill(tree)
    return tree
  } catch (error) {
    if (error === uncertain || error instanceof TooComplex) return undefined
    throw error
  }
}
