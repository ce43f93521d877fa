import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { noteableTypes } from '../../discussion/index.ts'
import { LabelReferenceSchema, labelReference } from '../labels/entity.ts'
import type { LabelEventRow } from './queries.ts'

/** A label was added to a noteable, or removed. */
export const ResourceLabelEvent = entity({
  name: 'ResourceLabelEvent',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the event' }),
    user: described(UserReferenceSchema, 'User who added or removed the label'),
    created_at: timestamp('Time of the event'),
    resource_type: Type.String({ description: 'Kind of what has the label', enum: [...noteableTypes] }),
    resource_id: Type.Integer({ description: 'ID, not the number in the project' }),
    label: nullable(LabelReferenceSchema, { description: 'Null if it was deleted' }),
    action: Type.String({ description: 'What happened to the label', enum: ['add', 'remove'] }),
  }),
  present: (event: LabelEventRow, ctx) => ({
    id: event.id,
    user: userReference(event.user, ctx),
    created_at: event.created_at,
    resource_type: event.noteable_type as string,
    resource_id: event.noteable_id,
    label: event.label && labelReference(event.label),
    action: event.action,
  }),
})
