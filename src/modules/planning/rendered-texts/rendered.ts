import { Type } from 'typebox'
import { cachedByInputs } from '../../../api/cached-by-inputs.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Html, MarkdownText } from '../../../api/markdown.ts'
import { Flag } from '../../../api/params/types.ts'

/** What the record of a noteable shows as HTML. */
export type Rendering = {
  /** What the path in the row is of; a project if absent. */
  readonly of?: 'project' | 'group'
  readonly row: {
    readonly full_path: string
    readonly title: string
    readonly description: string | null
    readonly labels: readonly { readonly description: string | null }[]
  }
  /** Title and description. */
  readonly renderHtml?: boolean | undefined
  /** Descriptions of labels. */
  readonly labelDetails?: boolean | undefined
}

/** The HTML that the record of a noteable shows. */
export type RenderedTexts = {
  /** Title and description, unless they are not requested. */
  readonly renderHtml?: { readonly title: Html; readonly description: Html }
  /** Descriptions of the labels, in their order, unless they are not requested. */
  readonly labelDetails?: readonly Html[]
}

/** Renders what the records of a page show as HTML, in their order, equal texts once. Does nothing for records that show none. */
export async function renderTexts(ctx: Ctx, shown: readonly Rendering[]): Promise<readonly RenderedTexts[]> {
  if (!shown.some((each) => each.renderHtml || each.labelDetails)) return shown.map(() => ({}))
  const { texts, places } = wantedBy(shown)
  const html = texts.length === 0 ? [] : await ctx.markdown.html(ctx, texts)
  const htmlAt = (index: number | undefined) => (index === undefined ? emptyHtml : html[index]!)
  return places.map(({ texts, labels }) => ({
    ...(texts && { renderHtml: { title: htmlAt(texts.title), description: htmlAt(texts.description) } }),
    ...(labels && { labelDetails: labels.map(htmlAt) }),
  }))
}

/** The texts that records show, each once, and for each record the indexes of its texts; undefined for one that is empty. */
type Wanted = {
  readonly texts: readonly MarkdownText[]
  readonly places: readonly {
    readonly texts?: { readonly title: number | undefined; readonly description: number | undefined }
    readonly labels?: readonly (number | undefined)[]
  }[]
}

function collect(shown: readonly Rendering[]): Wanted {
  const wanted = new WantedTexts()
  const places = shown.map(({ row, of: kind = 'project', renderHtml, labelDetails }) => {
    const place = { of: kind, full_path: row.full_path }
    return {
      ...(renderHtml && {
        texts: {
          title: wanted.add({ text: row.title, inline: true, place }),
          description: wanted.add({ text: row.description ?? '', inline: false, place }),
        },
      }),
      ...(labelDetails && {
        labels: row.labels.map((label) => wanted.add({ text: label.description ?? '', inline: true, place })),
      }),
    }
  })
  // Frozen, so that the renderer recognizes the list.
  return { texts: Object.freeze(wanted.texts), places }
}

const collected = cachedByInputs(collect, {
  maximumBytes: 2 * 1024 * 1024,
  sizeOf: ({ texts }) => texts.reduce((sum, { text }) => sum + 2 * text.length + 300, 0),
})

/** The same texts for the same rows while these are cached. Rows that are not cached would be written into the key. */
const wantedBy = (shown: readonly Rendering[]): Wanted =>
  shown.every(({ row }) => Object.isFrozen(row))
    ? collected(
        shown.map(({ of = 'project', row, renderHtml, labelDetails }) => ({ of, row, renderHtml, labelDetails })),
      )
    : collect(shown)

/** That of a text that is empty. */
const emptyHtml: Html = Object.freeze({ html: '' })

/** Texts to render, each once. */
class WantedTexts {
  readonly texts: MarkdownText[] = []
  readonly #known = new Map<string, number>()

  /** The index of the text; undefined if it is empty. */
  add(wanted: MarkdownText & { readonly place: { readonly full_path: string } }): number | undefined {
    const { text, inline, place } = wanted
    if (text === '') return undefined
    // A path contains no space.
    const key = `${inline} ${place.full_path} ${text}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#known.set(key, this.texts.length)
    return this.texts.push(wanted) - 1
  }
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
  html?.renderHtml ? { title_html: html.renderHtml.title.html, description_html: html.renderHtml.description.html } : {}
