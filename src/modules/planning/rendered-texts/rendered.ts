import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { MarkdownText } from '../../../api/markdown.ts'
import { Flag } from '../../../api/params/types.ts'
import type { LabelReferenceRow } from '../labels/queries.ts'

/** What the record of a noteable shows as HTML. */
export type Rendering = {
  /** What the path in the row is of; a project if absent. */
  readonly of?: 'project' | 'group'
  readonly row: {
    readonly full_path: string
    readonly title: string
    readonly description: string | null
    readonly labels: readonly LabelReferenceRow[]
  }
  /** Title and description. */
  readonly renderHtml?: boolean | undefined
  /** Descriptions of labels. */
  readonly labelDetails?: boolean | undefined
}

/** HTML of texts in a project or group. */
export type RenderedTexts = {
  /** A line without Markdown. */
  line(fullPath: string, text: string | null): string
  document(fullPath: string, text: string | null): string
}

const keyOf = (fullPath: string, text: string, inline: boolean): string => JSON.stringify([fullPath, inline, text])

/** Renders what the records of a page show as HTML, equal texts once. Does nothing for records that show none. */
export async function renderTexts(ctx: Ctx, shown: readonly Rendering[]): Promise<RenderedTexts> {
  const wanted = new Map<string, MarkdownText>()
  for (const { row, of: kind = 'project', renderHtml, labelDetails } of shown) {
    const place = { of: kind, full_path: row.full_path }
    const add = (text: string | null, inline: boolean): void => {
      if (text) wanted.set(keyOf(row.full_path, text, inline), { text, inline, place })
    }
    if (renderHtml) {
      add(row.title, true)
      add(row.description, false)
    }
    if (labelDetails) for (const { description } of row.labels) add(description, true)
  }
  const html = wanted.size === 0 ? [] : await ctx.markdown.html(ctx, [...wanted.values()])
  const found = new Map([...wanted.keys()].map((key, index) => [key, html[index]!]))
  const of = (inline: boolean) => (fullPath: string, text: string | null) =>
    text ? (found.get(keyOf(fullPath, text, inline)) ?? '') : ''
  return { line: of(true), document: of(false) }
}

/** The parameter that asks for `renderedFields`. */
export const render_html = Flag({
  default: false,
  description: 'Include `title_html` and `description_html` in the record',
})

export const renderedFields = {
  title_html: Type.Optional(Type.String({ description: 'Title as HTML; present on request' })),
  description_html: Type.Optional(
    Type.String({ description: 'Description as HTML, empty if there is none; present on request' }),
  ),
}

/** The values of `renderedFields`. */
export const renderedOf = (
  { full_path, title, description }: Rendering['row'],
  renderHtml: boolean | undefined,
  html: RenderedTexts | undefined,
) =>
  renderHtml && html
    ? { title_html: html.line(full_path, title), description_html: html.document(full_path, description) }
    : {}
