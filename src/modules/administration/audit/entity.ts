import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { entityTypes } from '../../../events/audit.ts'
import type { AuditRow } from './queries.ts'

/** Compat: the id for an unknown author. */
const unknownAuthor = -1

const noun = (what: string) =>
  Type.Optional(Type.String({ description: `What was ${what}; exactly one of add, change and remove is present` }))

export const AuditEvent = entity({
  name: 'AuditEvent',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the audit event' }),
    author_id: Type.Integer({ description: 'ID of the user; -1 if unknown' }),
    entity_id: Type.Integer({ description: 'ID of the project, group or user; 1 for the instance' }),
    entity_type: Type.Enum([...entityTypes], {
      description: 'Kind of what the event belongs to; `Gitlab::Audit::InstanceScope` is the instance',
    }),
    event_name: Type.String({ description: 'Type of the event' }),
    details: Type.Object(
      {
        add: noun('added'),
        change: noun('changed'),
        remove: noun('removed'),
        author_name: Type.String({ description: 'Name at the time of the event' }),
        target_id: nullable(Type.Integer(), { description: 'ID of the target; null if it has none' }),
        target_type: Type.String({ description: 'Type of the target: a user, a key, the entity itself, …' }),
        target_details: nullable(Type.String(), { description: 'Name of the target at the time of the event' }),
        ip_address: nullable(Type.String(), { description: 'IP address of the client' }),
        token_id: nullable(Type.Integer(), { description: 'ID of the access token used' }),
        impersonated_by: nullable(Type.Integer(), { description: 'Administrator who impersonated the author' }),
        entity_path: Type.String({ description: 'Name at the time of the event' }),
        facts: Type.Record(Type.String(), Type.Unknown(), { description: 'Further details by type; never secrets' }),
      },
      { title: 'AuditEventDetails', description: 'Who did what', additionalProperties: false },
    ),
    created_at: timestamp('Time of the event'),
  }),
  present: (row: AuditRow) => ({
    id: row.id,
    author_id: row.author_id ?? unknownAuthor,
    entity_id: row.entity_id,
    entity_type: row.entity_type,
    event_name: row.event,
    details: {
      [row.verb]: row.noun,
      author_name: row.author_name,
      target_id: row.target_id,
      target_type: row.target_type,
      target_details: row.target_details,
      ip_address: row.address,
      token_id: row.token_id,
      impersonated_by: row.impersonator_id,
      entity_path: row.entity_path,
      facts: row.facts,
    },
    created_at: row.created_at,
  }),
})
