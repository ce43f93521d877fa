import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described, nullable } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { kindOf } from '../../discussion/index.ts'
import { LabelDetail, labelDetail } from '../labels/entity.ts'
import { renderTexts } from '../rendered-texts/rendered.ts'
import { commonOf, eventFields } from '../resource-events/entity.ts'
import type { LabelEventRow } from './queries.ts'

/** The description of the label, as records of the noteable show it. */
const textsOf = ({ noteable_type, full_path, label }: LabelEventRow) => ({
  of: kindOf(noteable_type).holder.of,
  row: { full_path, title: '', description: null, labels: label ? [label] : [] },
  labelDetails: true,
})

/** A label was added to a noteable, or removed. */
export const ResourceLabelEvent = entity({
  name: 'ResourceLabelEvent',
  schema: Type.Object({
    ...eventFields,
    user: described(UserReferenceSchema, 'User who added or removed the label'),
    label: nullable(LabelDetail, { description: 'Null if it was deleted' }),
    action: Type.String({ description: 'What happened to the label', enum: ['add', 'remove'] }),
  }),
  async gather(events: readonly LabelEventRow[], ctx) {
    const texts = await renderTexts(ctx, events.map(textsOf))
    return new Map(events.map(({ id }, index) => [id, texts[index]!.labelDetails?.[0]?.html ?? '']))
  },
  present: (event: LabelEventRow, ctx, descriptions) => ({
    ...commonOf(event, ctx),
    user: userReference(event.user, ctx),
    label: event.label && labelDetail(event.label, descriptions.get(event.id)!),
    action: event.action,
  }),
})
