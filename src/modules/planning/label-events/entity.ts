import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described, nullable } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { LabelReferenceSchema, labelReference } from '../labels/entity.ts'
import { commonOf, eventFields } from '../resource-events/entity.ts'
import type { LabelEventRow } from './queries.ts'

/** A label was added to a noteable, or removed. */
export const ResourceLabelEvent = entity({
  name: 'ResourceLabelEvent',
  schema: Type.Object({
    ...eventFields,
    user: described(UserReferenceSchema, 'User who added or removed the label'),
    label: nullable(LabelReferenceSchema, { description: 'Null if it was deleted' }),
    action: Type.String({ description: 'What happened to the label', enum: ['add', 'remove'] }),
  }),
  present: (event: LabelEventRow, ctx) => ({
    ...commonOf(event, ctx),
    user: userReference(event.user, ctx),
    label: event.label && labelReference(event.label),
    action: event.action,
  }),
})
