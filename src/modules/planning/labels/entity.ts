import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import type { Html } from '../../../api/markdown.ts'
import { nullable } from '../../../api/schema.ts'
import { renderTexts } from '../rendered-texts/rendered.ts'
import { textColor } from './colors.ts'
import type { LabelReferenceRow, LabelRow } from './queries.ts'

const reference = {
  id: Type.Integer({ description: 'ID of the label' }),
  name: Type.String({ description: 'Name of the label' }),
  color: Type.String({ description: 'Background color, `#RRGGBB`' }),
  description: nullable(Type.String(), { description: 'Description; null if there is none' }),
  text_color: Type.String({ description: 'Text color with enough contrast to the label color' }),
}

export const LabelReferenceSchema = Type.Object(reference, { title: 'LabelReference' })

/** A label as other records contain it. */
export const labelReference = ({ id, name, color, description }: LabelReferenceRow) => ({
  id,
  name,
  color,
  description,
  text_color: textColor(color),
})

const detail = {
  ...reference,
  description_html: Type.String({ description: 'Description as HTML' }),
}

export const LabelDetail = Type.Object(detail, { title: 'LabelDetail' })

/** A label with its description as HTML. */
export const labelDetail = (label: LabelReferenceRow, html: string) => ({
  ...labelReference(label),
  description_html: html,
})

/** The field `labels` of issues and merge requests. */
export const ShownLabelsSchema = Type.Union([Type.Array(Type.String()), Type.Array(LabelDetail)], {
  description: 'Label titles; records with `with_labels_details=true`',
})

/** Labels as titles, or as records if the HTML of their descriptions is given, in the same order. */
export const shownLabels = (labels: readonly LabelReferenceRow[], html: readonly Html[] | undefined) =>
  html ? labels.map((label, index) => labelDetail(label, html[index]!.html)) : labels.map(({ name }) => name)

/** A label, and the project or group in which it is displayed. */
export type LabelShown = {
  readonly label: LabelRow
  readonly within: { readonly of: 'project' | 'group'; readonly full_path: string }
}

/** The HTML of the descriptions. */
async function descriptionsOf(shown: readonly LabelShown[], ctx: Ctx): Promise<ReadonlyMap<LabelShown, string>> {
  const texts = await renderTexts(
    ctx,
    shown.map(({ label, within: { of, full_path } }) => ({
      of,
      row: { full_path, title: '', description: null, labels: [label] },
      labelDetails: true,
    })),
  )
  return new Map(shown.map((each, index) => [each, texts[index]!.labelDetails![0]!.html]))
}

const label = {
  ...detail,
  subscribed: Type.Boolean({ description: 'The caller is subscribed' }),
  open_issues_count: Type.Optional(
    Type.Integer({ description: 'Number of open issues that the caller can see, counted up to 10,000' }),
  ),
  closed_issues_count: Type.Optional(
    Type.Integer({ description: 'Number of closed issues that the caller can see, counted up to 10,000' }),
  ),
  open_merge_requests_count: Type.Optional(
    Type.Integer({ description: 'Number of open merge requests that the caller can see, counted up to 10,000' }),
  ),
}

const labelOf = (row: LabelRow, html: string) => ({
  ...labelDetail(row, html),
  subscribed: row.subscribed,
  ...(row.open_merge_requests !== undefined && {
    open_issues_count: row.open_issues!,
    closed_issues_count: row.closed_issues!,
    open_merge_requests_count: row.open_merge_requests,
  }),
})

export const ProjectLabel = entity({
  name: 'ProjectLabel',
  schema: Type.Object({
    ...label,
    priority: nullable(Type.Integer(), { description: 'Priority; lowest first' }),
    is_project_label: Type.Boolean({ description: 'True if it belongs to the project and not to an ancestor group' }),
  }),
  gather: descriptionsOf,
  present: (shown: LabelShown, _, descriptions) => ({
    ...labelOf(shown.label, descriptions.get(shown)!),
    priority: shown.label.priority,
    is_project_label: shown.label.project_id !== null,
  }),
})

export const GroupLabel = entity({
  name: 'GroupLabel',
  schema: Type.Object(label),
  gather: descriptionsOf,
  present: (shown: LabelShown, _, descriptions) => labelOf(shown.label, descriptions.get(shown)!),
})
