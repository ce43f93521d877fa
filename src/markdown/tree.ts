import type { Element, ElementContent, Root } from 'hast'
import MarkdownIt, { type Token } from 'markdown-it'
import { limits, TooComplex } from './limits.ts'

const { unescapeAll } = new MarkdownIt().utils

/** Attributes that the parser of Markdown writes, other than classes and numbers. */
const attributes: ReadonlySet<string> = new Set(['align', 'alt', 'href', 'src', 'title'])

/** The HTML of these tokens is not what their tags say, and only a parser of HTML knows its tree: raw HTML and footnotes. */
const isForeign = (type: string): boolean => type.startsWith('html_') || type.startsWith('footnote_')

/** Thrown where the tree of the HTML is not that of the tokens. There is one, because it costs time to make many. */
const onlyHtml = new Error('Only a parser of HTML knows the tree')

/** How large trees are together. */
export type Size = { elements: number; depth: number }

/**
 * The tree that a parser of HTML would make of the HTML of tokens, without writing and parsing it. Undefined if only that parser can say: for
 * raw HTML, footnotes, links within links, and carriage returns, which it changes. Adds to `size`. Throws `TooComplex`.
 */
export function treeOf(tokens: readonly Token[], size: Size = { elements: 0, depth: 0 }): Root | undefined {
  const builder = new TreeBuilder()
  try {
    builder.blocks(tokens)
  } catch (error) {
    if (error === onlyHtml) return undefined
    throw error
  }
  size.elements += builder.elements
  size.depth = Math.max(size.depth, builder.depth)
  return builder.root
}

class TreeBuilder {
  readonly root: Root = { type: 'root', children: [] }
  readonly #open: (Root | Element)[] = [this.root]
  elements = 0
  depth = 0
  #isInLink = false

  blocks(tokens: readonly Token[]): void {
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index]!
      if (token.type === 'inline') this.#inline(token.children ?? [])
      else if (isForeign(token.type)) throw onlyHtml
      else if (token.type === 'fence' || token.type === 'code_block') this.#code(token)
      else if (!token.hidden) {
        if (token.block && token.nesting !== -1 && isHiddenEnd(tokens, index)) this.#text('\n')
        this.#tag(token)
        if (token.block && isFollowedByLine(tokens, index)) this.#text('\n')
      }
    }
  }

  #inline(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (token.type === 'text') this.#text(token.content)
      else if (token.type === 'softbreak') this.#text('\n')
      else if (token.type === 'hardbreak') {
        this.#leaf('br')
        this.#text('\n')
      } else if (token.type === 'code_inline') this.#leaf('code', propertiesOf(token), token.content)
      else if (token.type === 'image') {
        const alt = textOfImage(token.children ?? [])
        this.#leaf('img', { ...propertiesOf(token), alt: withoutReturns(alt) })
      } else if (isForeign(token.type)) throw onlyHtml
      else if (!token.hidden) this.#tag(token)
    }
  }

  #tag(token: Token): void {
    if (token.nesting === -1) {
      this.#open.pop()
      if (token.tag === 'a') this.#isInLink = false
      return
    }
    if (token.tag === 'a') {
      if (this.#isInLink) throw onlyHtml
      this.#isInLink = true
    }
    const element = this.#leaf(token.tag, propertiesOf(token))
    if (token.nesting === 0) return
    // The parser of HTML counts the element around the document as well.
    if (this.#open.length >= limits.depth) throw new TooComplex()
    this.depth = Math.max(this.depth, this.#open.length)
    this.#open.push(element)
  }

  /** A block of code; its language is the first word after the fence. */
  #code(token: Token): void {
    const language = token.type === 'fence' ? languageOf(token) : undefined
    const code = element('code', language === undefined ? {} : { className: [language] })
    if (token.content !== '') code.children.push({ type: 'text', value: withoutReturns(token.content) })
    this.#leaf('pre').children.push(code)
    this.elements++
    this.#text('\n')
  }

  #leaf(tagName: string, properties: Element['properties'] = {}, content = ''): Element {
    if (++this.elements > limits.elements) throw new TooComplex()
    const made = element(tagName, properties)
    if (content !== '') made.children.push({ type: 'text', value: withoutReturns(content) })
    ;(this.#open.at(-1)!.children as ElementContent[]).push(made)
    return made
  }

  /** Joins texts, as a parser of HTML does. */
  #text(value: string): void {
    if (value === '') return
    const { children } = this.#open.at(-1)!
    const last = children.at(-1)
    if (last?.type === 'text') last.value += withoutReturns(value)
    else children.push({ type: 'text', value: withoutReturns(value) })
  }
}

const element = (tagName: string, properties: Element['properties']): Element => ({
  type: 'element',
  tagName,
  properties,
  children: [],
})

function withoutReturns(value: string): string {
  if (value.includes('\r')) throw onlyHtml
  return value
}

/** Properties of the attributes of a token. */
function propertiesOf({ attrs }: Token): Element['properties'] {
  const properties: Element['properties'] = {}
  for (const [name, given] of attrs ?? []) {
    const value = String(given)
    if (attributes.has(name)) properties[name] = withoutReturns(value)
    else if (name === 'start' && /^\d+$/.test(value)) properties[name] = Number(value)
    else throw onlyHtml
  }
  return properties
}

/** The class for the language of a fence; undefined if it names none. */
function languageOf({ info }: Token): string | undefined {
  const [name] = unescapeAll(info).trim().split(/\s/)
  return name ? `language-${name}` : undefined
}

/** What an image says in words: the text of its description. */
const textOfImage = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content, children }) => {
      if (type === 'text' || type === 'code_inline' || type === 'html_inline') return content
      if (type === 'softbreak' || type === 'hardbreak') return '\n'
      return type === 'image' ? textOfImage(children ?? []) : ''
    })
    .join('')

/** Whether the token before, apart from hidden ones without content, ends a hidden paragraph. */
function isHiddenEnd(tokens: readonly Token[], index: number): boolean {
  let before = index - 1
  while (before >= 0 && tokens[before]!.hidden && tokens[before]!.nesting === 0) before--
  return before >= 0 && tokens[before]!.hidden && tokens[before]!.nesting === -1
}

/** Whether a line break follows the tag of a block: not before what is within a line, nor in an empty element. */
function isFollowedByLine(tokens: readonly Token[], index: number): boolean {
  const { nesting, tag } = tokens[index]!
  if (nesting !== 1) return true
  let after = index + 1
  while (after < tokens.length && tokens[after]!.hidden && tokens[after]!.nesting === 0) after++
  const next = tokens[after]
  return !next || !(next.type === 'inline' || next.hidden || (next.nesting === -1 && next.tag === tag))
}
