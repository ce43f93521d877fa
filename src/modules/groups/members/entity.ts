import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { accessLevel, dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { MemberRow, MembershipRow } from './queries.ts'

export const Member = entity({
  name: 'Member',
  schema: Type.Object({
    ...UserReferenceSchema.properties,
    access_level: accessLevel('Access level of the member'),
    created_at: timestamp(
      'Time at which the user became a member, also of a group above or of one with which it is shared',
    ),
    expires_at: nullable(dateOnly('Expiry date; no access from this day on')),
  }),
  present: (row: MemberRow, ctx) => ({
    ...userReference(row, ctx),
    access_level: row.access_level,
    created_at: row.created_at,
    expires_at: row.expires_at,
  }),
})

/** A group or project of which a user is a member. */
export const UserMembership = entity({
  name: 'UserMembership',
  schema: Type.Object({
    source_id: Type.Integer({ description: 'ID of the project or group' }),
    source_name: Type.String({ description: 'Name of the project or group' }),
    source_type: Type.String({
      enum: ['Namespace', 'Project'],
      description: 'Kind of the source; `Namespace` for a group',
    }),
    access_level: accessLevel('Access level of the user'),
  }),
  present: ({ source_id, source_name, source_type, access_level }: MembershipRow) => ({
    source_id,
    source_name,
    source_type,
    access_level,
  }),
})
