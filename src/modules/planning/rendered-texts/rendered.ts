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

/** The HTML that the record of a noteable shows. */
export type RenderedTexts = {
  /** Title and description, unless they are not requested. */
  readonly renderHtml?: { readonly title: string; readonly description: string }
  /** Descriptions of the labels, in their order, unless they are not requested. */
  readonly labelDetails?: readonly string[]
}

const keyOf = (fullPath: string, text: string, inline: boolean): string => JSON.stringify([fullPath, inline, text])

/** Renders what the records of a page show as HTML, in their order, equal texts once. Does nothing for records that show none. */
export async function renderTexts(ctx: Ctx, shown: readonly Rendering[]): Promise<RenderedTexts[]> {
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
  if (wanted.size === 0 && !shown.some((each) => each.renderHtml || each.labelDetails)) return shown.map(() => ({}))
  const html = wanted.size === 0 ? [] : await ctx.markdown.html(ctx, [...wanted.values()])
  const found = new Map([...wanted.keys()].map((key, index) => [key, html[index]!]))
  return shown.map(({ row, renderHtml, labelDetails }) => {
    const of = (text: string | null, inline: boolean) =>
      text ? (found.get(keyOf(row.full_path, text, inline)) ?? '') : ''
    return {
      ...(renderHtml && { renderHtml: { title: of(row.title, true), description: of(row.description, false) } }),
      ...(labelDetails && { labelDetails: row.labels.map(({ description }) => of(description, true)) }),
    }
  })
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
export const renderedOf = (html: RenderedTexts | undefined) =>
  html?.renderHtml ? { title_html: html.renderHtml.title, description_html: html.renderHtml.description } : {}
