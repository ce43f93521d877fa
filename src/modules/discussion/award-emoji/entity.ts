import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { AwardRow } from './queries.ts'

export const AwardEmoji = entity({
  name: 'AwardEmoji',
  schema: Type.Object({
    id: Type.Integer(),
    name: Type.String({ description: 'Short name without colons' }),
    user: UserReferenceSchema,
    created_at: timestamp(),
    updated_at: timestamp(),
    awardable_id: Type.Integer(),
    awardable_type: Type.String({ enum: ['MergeRequest', 'Note'] }),
  }),
  present: (award: AwardRow, ctx) => ({
    id: award.id,
    name: award.name,
    user: userReference(award.user, ctx),
    created_at: award.created_at,
    updated_at: award.updated_at,
    awardable_id: award.note_id ?? award.noteable_id,
    awardable_type: award.note_id === null ? (award.noteable_type as string) : 'Note',
  }),
})
