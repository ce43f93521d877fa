import { randomUUID } from 'node:crypto'
import type { Element, ElementContent, Root, RootContent } from 'hast'
import { type DefaultTreeAdapterTypes, defaultTreeAdapter } from 'parse5'
import type { Adapter } from './html.ts'
import { limits } from './limits.ts'

/**
 * Elements in which a parser of HTML treats blocks of Markdown as outside of all elements: what it does with a block depends on open
 * paragraphs, headings, formatting, tables, forms and the like, not on these.
 */
const neutral: ReadonlySet<string> = new Set(
  'article aside blockquote center details div figure footer header main nav section'.split(' '),
)

type Parent = DefaultTreeAdapterTypes.ParentNode

/** The element around an element; undefined within a template. */
const parentOf = (node: Parent): Parent | undefined => ('parentNode' in node && node.parentNode) || undefined

/** Thrown where the tree of a block may depend on the HTML before it. */
export const uncertain = new Error('Only a parser of the whole document knows the tree')

/**
 * Places for blocks of Markdown in the HTML of a document. A place is a paragraph with a text that no document contains, because it is
 * chosen afterwards. Like every block of Markdown it closes an open paragraph, shows formatting that is still open, and ends as it begins. So
 * if the parser puts it within neutral elements only, it puts the block there as well, and goes on alike after both. What a parser puts
 * elsewhere than it stands, such as text in a table, leaves no place certain.
 */
export class Places {
  readonly #mark = randomUUID()
  readonly #blocks: RootContent[][] = []
  readonly #depth: number
  #found = 0
  #filled = 0

  /** `depth` is the maximum of the blocks. */
  constructor(depth: number) {
    this.#depth = depth
  }

  get count(): number {
    return this.#blocks.length
  }

  /** The HTML of a place for nodes. Throws `uncertain` if they are not whole blocks. */
  add(nodes: RootContent[]): string {
    // The parser joins the line break after a block with the text that follows.
    const end = nodes.pop()
    if (nodes[0]?.type !== 'element' || end?.type !== 'text' || end.value !== '\n') throw uncertain
    return `<p>${this.#text(this.#blocks.push(nodes) - 1)}</p>\n`
  }

  #text(place: number): string {
    return `${this.#mark}-${place}`
  }

  /** For the parser. They throw `uncertain`. */
  readonly methods: Partial<Adapter> = {
    insertText: (parent, text) => {
      if (text.startsWith(this.#mark)) this.#check(parent, text)
      defaultTreeAdapter.insertText(parent, text)
    },
    insertBefore: () => {
      throw uncertain
    },
    insertTextBefore: () => {
      throw uncertain
    },
  }

  /** Whether the parser put a place within neutral elements only, and not so deep that its blocks would be too deep. */
  #check(parent: Parent, text: string): void {
    if (text !== this.#text(this.#found++) || parent.nodeName !== 'p') throw uncertain
    // Two more, because the depth of blocks is that without elements of code.
    let depth = this.#depth + 2
    for (let around = parentOf(parent); around?.nodeName !== 'html'; around = parentOf(around)) {
      if (!around || !neutral.has(around.nodeName)) throw uncertain
      if (++depth >= limits.depth) throw uncertain
    }
  }

  /** Puts the blocks in their places. Throws `uncertain` if one has none. */
  fill(tree: Root): void {
    this.#fill(tree)
    if (this.#filled !== this.#blocks.length) throw uncertain
  }

  #fill(parent: Root | Element): void {
    const filled: RootContent[] = []
    for (const child of parent.children) {
      const nodes = this.#blocksAt(child)
      if (nodes) for (const node of nodes) filled.push(node)
      else {
        filled.push(child)
        if (child.type === 'element' && neutral.has(child.tagName)) this.#fill(child)
      }
    }
    parent.children = filled as ElementContent[]
  }

  /** The blocks of which this is the place. */
  #blocksAt(node: RootContent): RootContent[] | undefined {
    const [text] = node.type === 'element' && node.tagName === 'p' ? node.children : []
    if (text?.type !== 'text' || !text.value.startsWith(this.#mark)) return undefined
    if (text.value !== this.#text(this.#filled)) throw uncertain
    return this.#blocks[this.#filled++]
  }
}
