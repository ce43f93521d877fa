import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { type NoteableType, plannedTypes } from '../../discussion/index.ts'

/** Fields that all sorts of events have. */
export const eventFields = {
  id: Type.Integer({ description: 'ID of the event' }),
  user: nullable(UserReferenceSchema, { description: 'User who made the change; null if the service did' }),
  created_at: timestamp('Time of the event'),
  resource_type: Type.String({ description: 'Kind of what changed', enum: [...plannedTypes] }),
  resource_id: Type.Integer({ description: 'ID, not the number in the project' }),
}

/** Columns that all sorts of events have. */
type CommonRow = {
  readonly id: number
  readonly noteable_type: NoteableType
  readonly noteable_id: number
  readonly user: UserReferenceRow | null
  readonly created_at: Timestamp
}

/** The values of `eventFields`. */
export const commonOf = (event: CommonRow, ctx: Ctx) => ({
  id: event.id,
  user: event.user && userReference(event.user, ctx),
  created_at: event.created_at,
  resource_type: event.noteable_type as string,
  resource_id: event.noteable_id,
})
