import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { entityTypes } from '../../../events/audit.ts'
import type { AuditRow } from './queries.ts'

/** Compat: who is nobody known has this number. */
const nobody = -1

const noun = (what: string) =>
  Type.Optional(Type.String({ description: `What was ${what}; one of add, change, remove` }))

export const AuditEvent = entity({
  name: 'AuditEvent',
  schema: Type.Object({
    id: Type.Integer(),
    author_id: Type.Integer({ description: '-1 when nobody known did it' }),
    entity_id: Type.Integer(),
    entity_type: Type.Enum([...entityTypes]),
    event_name: Type.String({ description: 'The kind of the event' }),
    details: Type.Object(
      {
        add: noun('added'),
        change: noun('changed'),
        remove: noun('removed'),
        author_name: Type.String({ description: 'As it was' }),
        target_id: nullable(Type.Integer()),
        target_type: Type.String({ description: 'What it was done to: a user, a key, the entity itself, …' }),
        target_details: nullable(Type.String(), { description: 'What that was called' }),
        ip_address: nullable(Type.String(), { description: 'Of the client' }),
        token_id: nullable(Type.Integer(), { description: 'The access token that was shown' }),
        impersonated_by: nullable(Type.Integer(), { description: 'The administrator who acted as the author' }),
        entity_path: Type.String({ description: 'As it was' }),
        facts: Type.Record(Type.String(), Type.Unknown(), { description: 'More, by kind; never a secret' }),
      },
      { additionalProperties: false },
    ),
    created_at: timestamp(),
  }),
  present: (row: AuditRow) => ({
    id: row.id,
    author_id: row.author_id ?? nobody,
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
