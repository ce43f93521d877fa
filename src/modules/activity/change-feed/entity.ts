import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { cursorOf } from './cursor.ts'
import type { Change } from './service.ts'
import { onTypes, shownKinds, targetTypes } from './targets.ts'

export const presentChange = ({ event, target: { type, id, on } }: Change) => ({
  cursor: cursorOf(event.position),
  kind: event.kind as string,
  project_id: event.projectId,
  group_id: event.groupId,
  actor_id: event.actorId,
  target_type: type,
  target_id: id,
  on_type: on?.type ?? null,
  on_id: on?.id ?? null,
  created_at: event.createdAt,
})

export const ChangeEvent = entity({
  name: 'ChangeEvent',
  schema: Type.Object({
    cursor: Type.String({ description: 'Position after this event, for `after`' }),
    kind: Type.String({ description: 'Name of the event, as in docs/events.md', enum: [...shownKinds] }),
    project_id: nullable(Type.Integer(), { description: 'ID of the project' }),
    group_id: nullable(Type.Integer(), { description: 'ID of the group, for events of groups and their members' }),
    actor_id: nullable(Type.Integer(), { description: 'ID of the user who did it; null if unknown or deleted' }),
    target_type: Type.String({
      description: 'Type of what changed',
      enum: [...targetTypes],
    }),
    target_id: Type.Integer({
      description: 'ID of what changed; of a repository the ID of its project, of a member that of the user',
    }),
    on_type: nullable(Type.String({ enum: [...onTypes] }), {
      description: 'Type of what a note is on, or a member belongs to',
    }),
    on_id: nullable(Type.Integer(), { description: 'ID of what a note is on, or a member belongs to' }),
    created_at: timestamp('When it happened'),
  }),
  present: presentChange,
})
