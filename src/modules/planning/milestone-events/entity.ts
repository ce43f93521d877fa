import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { MilestoneSchema, milestoneRecord } from '../milestones/entity.ts'
import { commonOf, eventFields } from '../resource-events/entity.ts'
import type { MilestoneEventRow } from './queries.ts'

/** A noteable got a milestone, or lost it. */
export const ResourceMilestoneEvent = entity({
  name: 'ResourceMilestoneEvent',
  schema: Type.Object({
    ...eventFields,
    milestone: nullable(MilestoneSchema, { description: 'Null if it was deleted' }),
    action: Type.String({ description: 'What happened to the milestone', enum: ['add', 'remove'] }),
  }),
  present: (event: MilestoneEventRow, ctx) => ({
    ...commonOf(event, ctx),
    milestone: event.milestone && milestoneRecord(event.milestone, ctx),
    action: event.action as string,
  }),
})
