import { randomUUID } from 'node:crypto'
import type { Root } from 'hast'
import { Finish } from './finish.ts'
import { limits, TooComplex } from './limits.ts'
import { parseMarkdown } from './parser.ts'
import { treeOfDocument } from './pieces.ts'
import { sanitize } from './sanitize.ts'
import type { MarkdownContext, MarkdownDocument, Rendered } from './types.ts'
import { writeHtml } from './write.ts'

/** Sanitizes and completes a tree. Throws `TooComplex`. */
export function finishTree(tree: Root, context: MarkdownContext): Rendered {
  const root = sanitize(tree)
  // Nothing else in the document can be this text: the document was complete before it was chosen.
  const mark = `\uFDD1${randomUUID()}:`
  const finish = new Finish(context, (reference) => `${mark}${reference}\uFDD1`)
  finish.finish(root)
  const html = writeHtml(root).trimEnd()
  if (html.length > limits.html) throw new TooComplex()
  return { parts: splitAt(html, mark), references: finish.references, targets: finish.targets }
}

/** The parts between the places of references, which are in order. */
const splitAt = (html: string, mark: string): string[] =>
  html.split(mark).map((part, index) => (index === 0 ? part : part.slice(part.indexOf('\uFDD1') + 1)))

/** HTML of a document: a function of its text and context, apart from links for references. Throws `TooComplex`. */
export function render({ text, context }: MarkdownDocument): Rendered {
  if (text.length > limits.text) throw new TooComplex()
  return finishTree(treeOfDocument(parseMarkdown(text, context.inline === true)), context)
}
