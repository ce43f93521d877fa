import MarkdownIt, { type StateCore, type Token } from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { limits, TooComplex } from './limits.ts'
import { literalMark } from './literal.ts'
import { keepsPlainUrls } from './plain-urls.ts'

/** What begins a reference, an emoji code or a checkbox. */
const meaningful = /^[#!&$~%@:[0-9a-f]/

/** The rest of a domain and a URL after `www.`. */
const domainTail = /^[\p{L}\p{N}_-]{1,63}(?:\.[\p{L}\p{N}_-]{1,63}){1,10}(?::\d{1,5})?(?:[/?#][^\s<]{0,1500})?/u

/** The part of a link that is not punctuation of the sentence, as GitHub's specification of extended autolinks says. */
export function withoutTrailingPunctuation(link: string): string {
  let end = link.length
  let [opened, closed] = [0, 0]
  for (const character of link) {
    if (character === '(') opened++
    else if (character === ')') closed++
  }
  for (; end > 0; end--) {
    const last = link[end - 1]!
    if (last === ')' && closed > opened) closed--
    else if (!/[?!.,:*_~'"]/.test(last)) break
  }
  return link.slice(0, end).replace(/&\w{1,32};$/, '')
}

/** Mail addresses may have any top-level domain. */
const anyTopLevel = '[a-z\u00A1-\uFFFF](?:[a-z0-9\u00A1-\uFFFF-]{0,61}[a-z0-9\u00A1-\uFFFF])?'

/**
 * Escaped characters and character references become text, marked where they could begin something. The parser's own rule joins adjacent texts
 * as well, which the tree does anyway.
 */
const marksLiterals = ({ tokens }: StateCore): void => {
  for (const { type, children } of tokens)
    if (type === 'inline')
      for (const child of children ?? [])
        if (child.type === 'text_special') {
          child.type = 'text'
          if (meaningful.test(child.content)) child.content = literalMark + child.content
        }
}

/** `del`, as GitHub writes it. */
const strikesByDel = ({ tokens }: StateCore): void => {
  for (const { children } of tokens) for (const child of children ?? []) if (child.tag === 's') child.tag = 'del'
}

/** `align` instead of a style, which the sanitizer removes. */
const alignsCells = ({ tokens }: StateCore): void => {
  for (const token of tokens)
    if (token.type === 'th_open' || token.type === 'td_open') {
      const side = /^text-align:(\w+)$/.exec(String(token.attrGet('style') ?? ''))?.[1]
      if (side !== undefined) token.attrs = [['align', side]]
    }
}

type Parser = InstanceType<typeof MarkdownIt>

/** Whether a text may contain a link: saves the search in most. */
const mayLink = (text: string): boolean => /\/\/|@|www\.|mailto:/i.test(text)

/** Links what GitHub links: URLs, mail addresses, domains that begin with `www.`, but not `README.md`. */
function linksUrls(parser: Parser): Parser {
  keepsPlainUrls(parser)
  const { linkify } = parser
  const hasLink = linkify.test.bind(linkify)
  linkify.pretest = mayLink
  linkify.test = (text) => mayLink(text) && hasLink(text)
  linkify.set({ fuzzyLink: false }).tlds(anyTopLevel)
  linkify.add('//', null).add('www.', {
    validate: (text: string, at: number): number =>
      withoutTrailingPunctuation(domainTail.exec(text.slice(at, at + 2_000))?.[0] ?? '').length,
    normalize: (match: { url: string }) => {
      match.url = `http://${match.url}`
    },
  })
  return parser
}

/** Throws before the extension orders the footnotes. */
const countsFootnotes = ({ env }: StateCore): void => {
  const { list } = (env['footnotes'] ?? {}) as { list?: readonly unknown[] }
  if (list && list.length > limits.footnotes) throw new TooComplex()
}

const documents = linksUrls(new MarkdownIt({ html: true, linkify: true }).use(footnote))
// Beyond this depth the parser drops text: deeper than what is refused, so that it never does. Its types lack the option.
Object.assign(documents.options, { maxNesting: 2 * limits.depth })
documents.disable('footnote_inline')
documents.core.ruler.before('text_join', 'mark_literals', marksLiterals)
documents.core.ruler.disable(['normalize', 'text_join'])
documents.core.ruler.before('footnote_tail', 'count_footnotes', countsFootnotes)
documents.core.ruler.push('align_cells', alignsCells)
documents.core.ruler.push('strike_by_del', strikesByDel)

/** Text in which only URLs have a meaning. */
const lines = linksUrls(new MarkdownIt('zero', { linkify: true }).enable('linkify'))
lines.core.ruler.disable(['normalize', 'text_join'])

/** With one kind of line ending, and without characters that stand for something here. Few texts change, which a test finds out soonest. */
const normalized = (text: string): string =>
  /[\r\0\uFDD0]/.test(text) ? text.replace(/\r\n?/g, '\n').replace(/[\0\uFDD0]/g, '\uFFFD') : text

/** A document of which the tokens are known. */
export type Parsed = {
  readonly tokens: readonly Token[]
  /** The HTML of whole blocks of them, not sanitized. */
  toHtml(tokens: readonly Token[]): string
}

/**
 * The tokens of Markdown; of a line, with links only. One definition of a link may be used by many short references, so the length of the
 * HTML is checked before it is written.
 */
export function parseMarkdown(text: string, isLine: boolean): Parsed {
  const source = normalized(text)
  const env = {}
  const parser = isLine ? lines : documents
  const tokens = isLine ? parser.parseInline(source, env) : parser.parse(source, env)
  refuseExcess(tokens)
  return { tokens, toHtml: (blocks) => parser.renderer.render([...blocks], parser.options, env) }
}

/** Throws if the tokens become too many characters or elements: before they are written and parsed again. */
function refuseExcess(tokens: readonly Token[]): void {
  let [length, elements] = [0, 0]
  const count = ({ content, attrs, tag, nesting, children }: Token): void => {
    length += content.length + 2 * tag.length
    if (attrs) for (const [name, value] of attrs) length += name.length + String(value).length
    if (tag !== '' && nesting >= 0) elements++
    if (length > limits.html || elements > limits.elements) throw new TooComplex()
    if (children) for (const child of children) count(child)
  }
  for (const token of tokens) count(token)
}
