import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { StarrerRow } from './queries.ts'

export const Starrer = entity({
  name: 'Starrer',
  schema: Type.Object({ starred_since: timestamp(), user: UserReferenceSchema }),
  present: (row: StarrerRow, ctx) => ({ starred_since: row.starred_since, user: userReference(row, ctx) }),
})
