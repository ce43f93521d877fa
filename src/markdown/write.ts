import type { Element, Root, RootContent } from 'hast'
import { toParse5 } from 'hast-util-to-parse5'
import type { DefaultTreeAdapterMap } from 'parse5'

/** Elements without content and end tag. */
const voids: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr'])

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\u00A0': '&nbsp;',
}

const sign = (character: string): string => signs[character]!

/** Most texts have nothing to escape, which a test finds out sooner than a replacement. */
const escaped = (text: string): string => (/[&<>"\u00A0]/.test(text) ? text.replace(/[&<>"\u00A0]/g, sign) : text)
const escapedText = (text: string): string => (/[&<>\u00A0]/.test(text) ? text.replace(/[&<>\u00A0]/g, sign) : text)

const attributeNames = new Map<string, string>()

/** The attribute of a property: `class` for `className`. There are few: those that the sanitizer allows and `Finish` adds. */
function attributeOf(property: string): string {
  let name = attributeNames.get(property)
  if (name === undefined) {
    const sample: Element = { type: 'element', tagName: 'p', properties: { [property]: 'x' }, children: [] }
    const { attrs } = toParse5(sample) as DefaultTreeAdapterMap['element']
    attributeNames.set(property, (name = attrs[0]!.name))
  }
  return name
}

function startTag({ tagName, properties }: Element): string {
  let tag = `<${tagName}`
  for (const name in properties) {
    const value = properties[name]
    if (value === undefined || value === null || value === false) continue
    const written = value === true ? '' : Array.isArray(value) ? value.join(' ') : String(value)
    tag += ` ${attributeOf(name)}="${escaped(written)}"`
  }
  return `${tag}>`
}

/**
 * HTML of a sanitized tree, written as the standard says. Only the elements that the sanitizer allows are written right: others may have text
 * that must not be escaped.
 */
export function writeHtml(node: Root | RootContent): string {
  if (node.type === 'text') return escapedText(node.value)
  if (node.type !== 'element' && node.type !== 'root') return ''
  let html = node.type === 'element' ? startTag(node) : ''
  if (node.type === 'element' && voids.has(node.tagName)) return html
  for (const child of node.children) html += writeHtml(child)
  return node.type === 'element' ? `${html}</${node.tagName}>` : html
}
