import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { commonOf, eventFields } from '../resource-events/entity.ts'
import { eventStates, type StateEventRow } from './queries.ts'

/** A noteable was closed, reopened or merged. */
export const ResourceStateEvent = entity({
  name: 'ResourceStateEvent',
  schema: Type.Object({
    ...eventFields,
    state: Type.String({ description: 'State that it got: `merged` only for merge requests', enum: [...eventStates] }),
  }),
  present: (event: StateEventRow, ctx) => ({ ...commonOf(event, ctx), state: event.state as string }),
})
