import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { numberedTypes } from '../noteables/kinds.ts'
import type { AwardRow } from './queries.ts'

export const AwardEmoji = entity({
  name: 'AwardEmoji',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the reaction' }),
    name: Type.String({ description: 'Short name without colons' }),
    user: described(UserReferenceSchema, 'User who reacted'),
    created_at: timestamp('Time at which the reaction was added'),
    updated_at: timestamp('Same as `created_at`'),
    awardable_id: Type.Integer({ description: 'ID of the issue, merge request, epic, snippet or note' }),
    awardable_type: Type.String({ description: 'Kind of the target', enum: [...numberedTypes, 'Note'] }),
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
