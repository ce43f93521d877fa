import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { DeployTokenRow } from './queries.ts'
import { deployTokenScopes } from './scopes.ts'

const fields = {
  id: Type.Integer({ description: 'ID of the deploy token' }),
  name: Type.String({ description: 'Name of the deploy token' }),
  username: Type.String({ description: 'Username for the token' }),
  expires_at: nullable(timestamp(), { description: 'Expiry time; null if it does not expire' }),
  scopes: Type.Array(Type.String({ enum: [...deployTokenScopes] }), {
    description: 'Scopes of the deploy token: what it may be used for',
  }),
  revoked: Type.Boolean({ description: 'True if the deploy token was revoked' }),
  expired: Type.Boolean({ description: 'True if the expiry time has passed' }),
}

const present = (row: DeployTokenRow) => ({
  id: row.id,
  name: row.name,
  username: row.username,
  expires_at: row.expires_at,
  scopes: row.scopes,
  revoked: row.revoked,
  expired: row.expired,
})

export const DeployToken = entity({ name: 'DeployToken', schema: Type.Object(fields), present })

/** Only the response that creates a token contains its value. */
export const NewDeployToken = entity({
  name: 'NewDeployToken',
  schema: Type.Object({ ...fields, token: Type.String({ description: 'The secret; returned only in this response' }) }),
  present: (row: DeployTokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})
