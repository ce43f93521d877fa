import { escaped } from '../../../kernel/html.ts'
import type { FoundReference } from '../../../markdown/types.ts'

/** What a reference leads to, for a reader who may see it. */
export type Link = {
  readonly kind: string
  readonly href: string
  /** Shown when the reader points at the link. */
  readonly title?: string | null
  /** Replaces the text as written. */
  readonly text?: string
  /** The reference as short as possible: replaces a URL. */
  readonly short: string
  readonly color?: string
}

/** The link of a reference as HTML. */
export function linkHtml(link: Link, { written, note }: FoundReference): string {
  const { kind, href, title, color } = link
  const attributes = {
    href: note === undefined ? href : `${href}#note_${note}`,
    class: `reference reference-${kind}`,
    ...(title && { title }),
    ...(color !== undefined && { 'data-color': color }),
  }
  const shown = link.text ?? written ?? (note === undefined ? link.short : `${link.short} (note ${note})`)
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`)
  return `<a${list.join('')}>${escaped(shown)}</a>`
}
