import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { described, timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { StarrerRow } from './queries.ts'

export const Starrer = entity({
  name: 'Starrer',
  schema: Type.Object({
    starred_since: timestamp('Time at which the user starred the project'),
    user: described(UserReferenceSchema, 'User who starred the project'),
  }),
  present: (row: StarrerRow, ctx) => ({ starred_since: row.starred_since, user: userReference(row, ctx) }),
})
