import GithubSlugger from 'github-slugger'
import type { Element, ElementContent, Root } from 'hast'
import { literalMark, literalMarks } from './literal.ts'
import { idPrefix } from './sanitize.ts'

/** The text of an element as it is read. */
export function textOf(node: Root | ElementContent): string {
  if (node.type === 'text') return node.value.includes(literalMark) ? node.value.replace(literalMarks, '') : node.value
  let text = ''
  if ('children' in node) for (const child of node.children) text += textOf(child as ElementContent)
  return text
}

type Heading = { readonly level: number; readonly id: string; readonly text: string }

/** Gives headings an id and a link to themselves, and fills the table of contents. */
export class Headings {
  readonly #slugger = new GithubSlugger()
  readonly #headings: Heading[] = []
  #contents: Element | undefined

  /** `text` is that of the heading before references in it were replaced. */
  add(heading: Element, text: string): void {
    heading.properties['id'] ??= `${idPrefix}${this.#slugger.slug(text)}`
    const id = String(heading.properties['id'])
    this.#headings.push({ level: Number(heading.tagName.slice(1)), id, text })
    const properties = { className: ['anchor'], href: `#${id}`, ariaLabel: `Link to this section: ${text}` }
    heading.children.unshift({ type: 'element', tagName: 'a', properties, children: [] })
  }

  /** Whether a paragraph asks for the table of contents: `[[_TOC_]]` or `[TOC]`. Only the first gets one. */
  isContents(paragraph: Element): boolean {
    if (this.#contents !== undefined) return false
    const [first, second] = paragraph.children
    if (first?.type !== 'text' || paragraph.children.length > 3) return false
    const isEmphasized = second?.type === 'element' && second.tagName === 'em'
    return textOf(paragraph) === (isEmphasized ? '[[TOC]]' : '[TOC]')
  }

  /** The list that `fill` completes when all headings are known. */
  contents(): Element {
    this.#contents = list([])
    this.#contents.properties['className'] = ['section-nav']
    return this.#contents
  }

  fill(): void {
    if (this.#contents) this.#contents.children = nested(this.#headings).children
  }
}

const list = (children: Element[]): Element => ({ type: 'element', tagName: 'ul', properties: {}, children })

/** The headings as nested lists. A level that is left out is not shown as an empty item. */
function nested(headings: readonly Heading[]): Element {
  const outermost = list([])
  const open: { level: number; list: Element }[] = [{ level: 0, list: outermost }]
  for (const { level, id, text } of headings) {
    while (open.length > 1 && open.at(-1)!.level > level) open.pop()
    const { list: around, level: last } = open.at(-1)!
    const link: Element = {
      type: 'element',
      tagName: 'a',
      properties: { href: `#${id}` },
      children: [{ type: 'text', value: text }],
    }
    const item: Element = { type: 'element', tagName: 'li', properties: {}, children: [link] }
    const previous = around.children.at(-1)
    if (last === 0 || last === level || previous?.type !== 'element') {
      around.children.push(item)
      if (last === 0) open[open.length - 1]!.level = level
    } else {
      const inner = list([item])
      previous.children.push(inner)
      open.push({ level, list: inner })
    }
  }
  return outermost
}
