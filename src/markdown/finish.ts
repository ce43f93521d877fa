import type { Element, ElementContent, Root, Text } from 'hast'
import { withEmoji } from './emoji.ts'
import { Headings, textOf } from './headings.ts'
import { limits } from './limits.ts'
import { literalMark, literalMarks } from './literal.ts'
import { referenceByUrl, scanReferences } from './references.ts'
import type { FoundReference, MarkdownContext, ReferenceTarget } from './types.ts'
import { imageUrl, linkUrl } from './urls.ts'
import { writeHtml } from './write.ts'

/** What is around a text. */
type Within = 'text' | 'link' | 'code'

const codes: ReadonlySet<string> = new Set(['code', 'kbd', 'pre', 'samp', 'tt', 'var'])

/** Languages of fenced code that are pictures; pages may draw them from the source. */
const diagrams: ReadonlySet<string> = new Set(['mermaid', 'plantuml'])

/**
 * Completes a sanitized tree: resolves URLs, finds references, and adds what documents cannot write themselves, such as checkboxes. What it
 * adds is not sanitized any more.
 */
export class Finish {
  readonly references: FoundReference[] = []
  readonly targets: ReferenceTarget[] = []
  readonly #targetIndexes = new Map<string, number>()
  readonly #headings = new Headings()
  readonly #context: MarkdownContext
  readonly #placeOf: (reference: number) => string

  /** `placeOf` returns the text that stands for a reference; no document can contain it. */
  constructor(context: MarkdownContext, placeOf: (reference: number) => string) {
    this.#context = context
    this.#placeOf = placeOf
  }

  finish(root: Root): void {
    this.#children(root, 'text')
    this.#headings.fill()
  }

  #children(parent: Root | Element, within: Within): void {
    const children = parent.children as ElementContent[]
    if (within === 'text' && children.length > 2) markMath(children)
    const finished: ElementContent[] = []
    for (const child of children) {
      if (child.type === 'text') this.#text(child.value, within, finished)
      else if (child.type === 'element') finished.push(this.#element(child, within))
    }
    parent.children = finished
  }

  #element(element: Element, within: Within): ElementContent {
    // The sanitizer leaves the attribute when it removes all classes.
    if ((element.properties['className'] as string[] | undefined)?.length === 0) delete element.properties['className']
    switch (element.tagName) {
      case 'a':
        return this.#link(element, within)
      case 'img':
        return this.#image(element)
      case 'p':
        if (this.#headings.isContents(element)) return this.#headings.contents()
        break
      case 'pre':
        nameLanguage(element)
        break
      case 'li':
        checkTask(element)
        break
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6': {
        const text = textOf(element)
        this.#children(element, within)
        this.#headings.add(element, text)
        return element
      }
    }
    this.#children(element, codes.has(element.tagName) ? 'code' : within)
    return element
  }

  #text(value: string, within: Within, finished: ElementContent[]): void {
    const { plain } = this.#context
    if (within !== 'text' || plain)
      return void finished.push(text(within === 'code' || plain ? value : withEmoji(value)))
    let end = 0
    for (const { index, written, target } of scanReferences(value)) {
      const place = this.#place(target, { fallback: writeHtml(text(written)), written })
      if (place === undefined) break
      if (index > end) finished.push(text(withEmoji(value.slice(end, index))))
      finished.push(place)
      end = index + written.length
    }
    if (end < value.length) finished.push(text(withEmoji(value.slice(end))))
  }

  #link(element: Element, within: Within): ElementContent {
    const { properties } = element
    const href = properties['href']
    this.#children(element, 'link')
    if (typeof href !== 'string') return element
    const url = linkUrl(href, this.#context)
    if (url === undefined) {
      delete properties['href']
      return element
    }
    properties['href'] = url.href
    if (url.isExternal) properties['rel'] = ['nofollow', 'noopener', 'ugc']
    const isBare = within === 'text' && !this.#context.plain && textOf(element) === href
    const named = isBare ? referenceByUrl(href, this.#context.siteUrl) : undefined
    if (!named) return element
    const { target, note } = named
    return this.#place(target, { fallback: writeHtml(element), ...(note !== undefined && { note }) }) ?? element
  }

  #image(element: Element): Element {
    const { properties } = element
    const url = typeof properties['src'] === 'string' ? imageUrl(properties['src'], this.#context) : undefined
    delete properties['src']
    properties['alt'] ??= ''
    if (url) {
      properties['src'] = url.src
      properties['loading'] = 'lazy'
      if (url.proxied !== undefined) properties['dataCanonicalSrc'] = url.proxied
    }
    return element
  }

  /** The place of a reference; undefined if there are too many. */
  #place(target: ReferenceTarget, found: Omit<FoundReference, 'target'>): Text | undefined {
    if (this.references.length >= limits.references) return undefined
    const key = `${target.kind}${target.quoted ? '"' : ' '}${target.path ?? ''}\n${target.name}`
    let index = this.#targetIndexes.get(key)
    if (index === undefined) {
      if (this.targets.length >= limits.targets) return undefined
      index = this.targets.push(target) - 1
      this.#targetIndexes.set(key, index)
    }
    return { type: 'text', value: this.#placeOf(this.references.push({ target: index, ...found }) - 1) }
  }
}

const text = (value: string): Text => ({
  type: 'text',
  value: value.includes(literalMark) ? value.replace(literalMarks, '') : value,
})

/** Code between dollar signs is a formula: their source is marked up for pages that draw it. */
function markMath(children: readonly ElementContent[]): void {
  for (let index = 1; index < children.length - 1; index++) {
    const code = children[index]!
    if (code.type !== 'element' || code.tagName !== 'code') continue
    const [before, after] = [children[index - 1], children[index + 1]]
    if (before?.type !== 'text' || after?.type !== 'text') continue
    if (!before.value.endsWith('$') || !after.value.startsWith('$')) continue
    before.value = before.value.slice(0, -1)
    after.value = after.value.slice(1)
    code.properties = { className: ['math'], dataMathStyle: 'inline' }
  }
}

/** Says the language of fenced code on the block as well, and whether it is a formula or a diagram. */
function nameLanguage(block: Element): void {
  const [code] = block.children
  if (code?.type !== 'element' || code.tagName !== 'code') return
  const [name] = (code.properties['className'] as string[] | undefined) ?? []
  const [language, lines] = name?.slice('language-'.length).split(/:(?=-)/) ?? []
  if (!language) return
  block.properties['dataLang'] = language
  if (language === 'math') block.properties['dataMathStyle'] = 'display'
  if (diagrams.has(language)) block.properties['dataDiagram'] = language
  if (language === 'suggestion') showSuggestion(block, code, lines)
}

/** A suggested change is shown as lines that are added; pages show the lines that it replaces from the record of the note. */
function showSuggestion(block: Element, code: Element, lines = '-0+0'): void {
  const [, above, below] = /^-(\d+)\+(\d+)$/.exec(lines) ?? []
  Object.assign(block.properties, { className: ['suggestion'], dataLinesAbove: above, dataLinesBelow: below })
  code.properties['className'] = ['language-suggestion']
  code.children = [{ type: 'element', tagName: 'ins', properties: {}, children: code.children }]
}

const isShown = (child: ElementContent): boolean => child.type !== 'text' || child.value.trim() !== ''

/** A list item that begins with `[ ]` or `[x]` gets a checkbox. */
function checkTask(item: Element): void {
  const first = item.children.find(isShown)
  const around = first?.type === 'element' && first.tagName === 'p' ? first : item
  const begin = around.children.find(isShown)
  const mark = begin?.type === 'text' ? /^\s*\[([ xX])\](?=[ \t])/.exec(begin.value) : null
  if (begin?.type !== 'text' || !mark) return
  begin.value = begin.value.slice(mark[0].length)
  const isDone = mark[1] !== ' '
  const properties = {
    type: 'checkbox',
    className: ['task-list-item-checkbox'],
    disabled: true,
    checked: isDone,
    ariaLabel: isDone ? 'Completed task' : 'Incomplete task',
  }
  around.children.splice(around.children.indexOf(begin), 0, {
    type: 'element',
    tagName: 'input',
    properties,
    children: [],
  })
  item.properties['className'] = ['task-list-item']
}
