import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { AccessRequestRow } from './queries.ts'

export const AccessRequester = entity({
  name: 'AccessRequester',
  schema: Type.Object({ ...UserReferenceSchema.properties, requested_at: timestamp('Time of the request') }),
  present: (row: AccessRequestRow, ctx) => ({ ...userReference(row, ctx), requested_at: row.requested_at }),
})
