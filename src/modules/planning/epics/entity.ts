import { Type } from 'typebox'
import { pureEntity } from '../../../api/pure-entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { dateOnly, described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { noteableUrl, ReferencesSchema, references, type Within } from '../../discussion/index.ts'
import { ShownLabelsSchema, shownLabels } from '../labels/entity.ts'
import { type RenderedTexts, renderTexts } from '../rendered-texts/rendered.ts'
import type { EpicRecordRow } from './record-queries.ts'
import { epicStates } from './states.ts'

/** An epic as one caller sees it. */
export type EpicShown = {
  readonly epic: EpicRecordRow
  readonly within: Within
  /** Labels as records instead of titles. */
  readonly labelDetails?: boolean
}

const url = (description: string) => Type.String({ description })
const day = (description: string, deprecated = false) =>
  nullable(dateOnly(), { description, ...(deprecated && { deprecated: true }) })
const isFixed = (which: string) =>
  Type.Boolean({ description: `True if the fixed ${which} is used, false for the inherited one` })

const schema = Type.Object({
  id: Type.Integer({ description: 'ID of the epic, unique on the instance' }),
  iid: Type.Integer({ description: 'Number within the group' }),
  group_id: Type.Integer({ description: 'ID of the group' }),
  parent_id: nullable(Type.Integer(), {
    description: 'ID of the parent epic; null if there is none that the caller may read',
  }),
  parent_iid: nullable(Type.Integer(), { description: 'Number of the parent epic within its group' }),
  title: Type.String({ description: 'Title of the epic' }),
  description: nullable(Type.String(), { description: 'Description in Markdown; null if there is none' }),
  state: Type.String({ enum: [...epicStates], description: 'State of the epic' }),
  confidential: Type.Boolean({
    description: 'True if only the author and members from reporters on can read it',
  }),
  web_url: url('URL of the epic page'),
  reference: Type.String({ description: 'Same as `references.short`', deprecated: true }),
  references: described(ReferencesSchema, 'How texts refer to the epic'),
  author: described(UserReferenceSchema, 'User who created the epic'),
  start_date: day('Start date in force; null if there is none'),
  start_date_is_fixed: isFixed('start date'),
  start_date_fixed: day('Fixed start date; null if there is none'),
  start_date_from_milestones: day('Same as `start_date_from_inherited_source`', true),
  start_date_from_inherited_source: day('First start date of the milestones of its issues and of its child epics'),
  end_date: day('Same as `due_date`', true),
  due_date: day('Due date in force; null if there is none'),
  due_date_is_fixed: isFixed('due date'),
  due_date_fixed: day('Fixed due date; null if there is none'),
  due_date_from_milestones: day('Same as `due_date_from_inherited_source`', true),
  due_date_from_inherited_source: day('Last due date of the milestones of its issues and of its child epics'),
  created_at: timestamp('Time at which the epic was created'),
  updated_at: timestamp('Time of the last change'),
  closed_at: nullable(timestamp(), { description: 'Time at which it was closed; null unless it is closed' }),
  labels: ShownLabelsSchema,
  upvotes: Type.Integer({ description: 'Number of `thumbsup` reactions' }),
  downvotes: Type.Integer({ description: 'Number of `thumbsdown` reactions' }),
  subscribed: Type.Optional(Type.Boolean({ description: 'The caller is subscribed; only in the record of one epic' })),
  _links: Type.Object(
    {
      self: url('URL of the epic in the API'),
      epic_issues: url('URL of its issues'),
      group: url('URL of its group'),
      parent: nullable(Type.String(), { description: 'URL of the parent epic; null if there is none' }),
    },
    { title: 'EpicLinks', description: 'URLs in the API' },
  ),
})

/** What the record of an epic shows. */
type EpicInputs = { readonly epic: EpicRecordRow; readonly within: Within; readonly html?: RenderedTexts }

/** The record of an epic; without `html`, nothing is shown as HTML. */
export function epicRecord({ epic: row, within, html }: EpicInputs, view: RecordView) {
  const names = references('Epic', row, within)
  const start = row.start_date_inherited
  const due = row.due_date_inherited
  const dueDate = row.due_date_is_fixed ? row.due_date_fixed : due
  return {
    id: row.id,
    iid: row.iid,
    group_id: row.group_id,
    parent_id: row.parent?.id ?? null,
    parent_iid: row.parent?.iid ?? null,
    title: row.title,
    description: row.description,
    state: row.state as string,
    confidential: row.confidential,
    web_url: noteableUrl(view.site.url, 'Epic', row.full_path, row.iid),
    reference: names.short,
    references: names,
    author: userReference(row.author, view),
    start_date: row.start_date_is_fixed ? row.start_date_fixed : start,
    start_date_is_fixed: row.start_date_is_fixed,
    start_date_fixed: row.start_date_fixed,
    start_date_from_milestones: start,
    start_date_from_inherited_source: start,
    end_date: dueDate,
    due_date: dueDate,
    due_date_is_fixed: row.due_date_is_fixed,
    due_date_fixed: row.due_date_fixed,
    due_date_from_milestones: due,
    due_date_from_inherited_source: due,
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    labels: shownLabels(row.labels, html?.labelDetails),
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    ...(row.subscribed !== undefined && { subscribed: row.subscribed }),
    _links: linksOf(row, view),
  }
}

/** An epic, in lists and alone. */
export const Epic = pureEntity({
  name: 'Epic',
  schema,
  async inputs(shown: readonly EpicShown[], ctx) {
    const html = await renderTexts(
      ctx,
      shown.map(({ epic: row, labelDetails }) => ({ of: 'group' as const, row, labelDetails })),
    )
    return shown.map(({ epic, within }, index) => ({ epic, within, html: html[index]! }))
  },
  present: epicRecord,
})

function linksOf({ group_id, iid, parent }: EpicRecordRow, { site }: RecordView) {
  const groupUrl = (id: number) => `${site.url}/api/v4/groups/${id}`
  const self = `${groupUrl(group_id)}/epics/${iid}`
  return {
    self,
    epic_issues: `${self}/issues`,
    group: groupUrl(group_id),
    parent: parent && `${groupUrl(parent.group_id)}/epics/${parent.iid}`,
  }
}
