import { type DefaultTreeAdapterTypes, parse } from 'parse5'

type Node = DefaultTreeAdapterTypes.ChildNode

/** Every element of HTML that stands in a page, with its attributes, as a browser finds them. */
export function elementsOf(html: string): { name: string; attributes: Record<string, string> }[] {
  const page = parse(`<!doctype html><html><head></head><body><main>${html}</main></body></html>`)
  const found: { name: string; attributes: Record<string, string> }[] = []
  const open: Node[] = [...page.childNodes]
  for (let node = open.pop(); node; node = open.pop()) {
    if (!('tagName' in node)) continue
    found.push({
      name: node.tagName,
      attributes: Object.fromEntries(node.attrs.map(({ name, value }) => [name, value])),
    })
    open.push(...node.childNodes)
    if ('content' in node) open.push(...node.content.childNodes)
  }
  return found.filter(({ name }) => !['html', 'head', 'body', 'main'].includes(name))
}

const names: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo blockquote br cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr'.split(
    ' ',
  ),
)
const attributeNames: ReadonlySet<string> = new Set(
  'align alt aria-label checked cite class colspan data-canonical-src data-color data-diagram data-lang data-math-style datetime dir disabled height href id lang loading open rel reversed rowspan scope src start title type value width'.split(
    ' ',
  ),
)
const classes =
  /^(?:anchor|footnote-backref|footnote-item|footnote-ref|footnotes|footnotes-list|footnotes-sep|language-[\w+#.-]+|math|reference reference-[a-z-]+|section-nav|task-list-item|task-list-item-checkbox)$/
const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'ftp:', 'irc:', 'ircs:', 'xmpp:', 'tel:'])

/** What of HTML could harm its reader; empty if it is safe. Written apart from the sanitizer, so that a mistake there is found. */
export const dangersOf = (html: string): string[] =>
  elementsOf(html).flatMap(({ name, attributes }) => [
    ...(names.has(name) ? [] : [`element ${name}`]),
    ...Object.entries(attributes).flatMap(([attribute, value]) => dangerOf(name, attribute, value)),
    ...(name === 'input' && (attributes['type'] !== 'checkbox' || attributes['disabled'] !== '') ? ['an input'] : []),
  ])

function dangerOf(element: string, attribute: string, value: string): string[] {
  const danger = [`${attribute}="${value}" of ${element}`]
  if (!attributeNames.has(attribute)) return danger
  if (attribute === 'id') return value.startsWith('user-content-') ? [] : danger
  if (attribute === 'class') return classes.test(value) ? [] : danger
  if (!['href', 'src', 'cite'].includes(attribute)) return []
  const url = URL.parse(value, 'https://page.example/a/b')
  // A URL that no browser can parse leads nowhere.
  return url === null || schemes.has(url.protocol) ? [] : danger
}
