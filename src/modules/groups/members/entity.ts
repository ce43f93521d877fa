import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { dateOnly, nullable } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { MemberRow, MembershipRow } from './queries.ts'

export const Member = entity({
  name: 'Member',
  schema: Type.Object({
    ...UserReferenceSchema.properties,
    access_level: Type.Integer({ description: '10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner' }),
    expires_at: nullable(dateOnly('Expiry date; no access from this day on')),
  }),
  present: (row: MemberRow, ctx) => ({
    ...userReference(row, ctx),
    access_level: row.access_level,
    expires_at: row.expires_at,
  }),
})

/** What somebody is a member of. */
export const UserMembership = entity({
  name: 'UserMembership',
  schema: Type.Object({
    source_id: Type.Integer(),
    source_name: Type.String(),
    source_type: Type.String({ enum: ['Namespace', 'Project'], description: 'Namespace for a group, else Project' }),
    access_level: Type.Integer(),
  }),
  present: ({ source_id, source_name, source_type, access_level }: MembershipRow) => ({
    source_id,
    source_name,
    source_type,
    access_level,
  }),
})
