import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { accessLevel, nullable } from '../../../api/schema.ts'
import { tokenFields, tokenRecord } from '../../accounts/index.ts'
import type { ResourceTokenRow } from './queries.ts'

const fields = {
  ...tokenFields,
  access_level: nullable(accessLevel('Access level of the bot user, null after its membership ended')),
}

const present = (row: ResourceTokenRow) => ({ ...tokenRecord(row), access_level: row.access_level })

export const ResourceAccessToken = entity({ name: 'ResourceAccessToken', schema: Type.Object(fields), present })

/** Only the response that creates a token contains its value. */
export const NewResourceAccessToken = entity({
  name: 'NewResourceAccessToken',
  schema: Type.Object({ ...fields, token: Type.String({ description: 'The secret; returned only in this response' }) }),
  present: (row: ResourceTokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})
