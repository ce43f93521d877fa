import { createRequire } from 'node:module'
import type MarkdownIt from 'markdown-it'
import type { Token } from 'markdown-it'

const load = createRequire(import.meta.url)
let parser: InstanceType<typeof MarkdownIt> | undefined
/** Loaded on first use: it takes 10 MB. */
const blockParser = () => {
  parser ??= new (load('markdown-it') as typeof MarkdownIt)({ html: true })
  return parser
}

/** Longer documents are not parsed, because a page has up to a hundred: hostile ones take 2 ms for each KiB. */
const maxParsedLength = 4096

/** A line that is a task unless it is code or HTML. */
const taskLine = /^[ \t]*(?:>[ \t]*)*(?:[-+*]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+\S/gm

/** How the text of a list item begins that is a task. */
const task = /^\[([ xX])\][ \t]+\S/

/** What may make lines code or HTML: a fence, a tag, an indentation; or a list item that begins another list. */
const needsParser = /```|~~~|<|^[ >]*(?:\t| {4})|^[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]+(?:[-+*>]|\d{1,9}[.)])[ \t]/m

/**
 * Whether the tasks of a document are done, in order: list items that begin with `[ ]`, or `[x]` if done, but not in code or HTML. In a long
 * document all lines count that look like tasks. Takes linear time.
 */
export function tasksOf(text: string): boolean[] {
  if (!/\[[ xX]\]/.test(text)) return []
  if (text.length > maxParsedLength || !needsParser.test(text)) {
    return [...text.matchAll(taskLine)].map(([, mark]) => mark !== ' ')
  }
  const tokens: Token[] = []
  const blocks = blockParser()
  blocks.block.parse(text.replace(/\r\n?/g, '\n'), blocks, {}, tokens)
  return tokens.flatMap(({ type, content }, at) => {
    const mark = type === 'inline' && tokens[at - 2]?.type === 'list_item_open' ? task.exec(content) : null
    return mark ? [mark[1] !== ' '] : []
  })
}
