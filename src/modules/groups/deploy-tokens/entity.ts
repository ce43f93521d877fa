import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { DeployTokenRow } from './queries.ts'

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  username: Type.String({ description: 'Username for the token' }),
  expires_at: nullable(timestamp()),
  scopes: Type.Array(Type.String()),
  revoked: Type.Boolean(),
  expired: Type.Boolean(),
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

/** Only the answer that makes a token shows it. */
export const NewDeployToken = entity({
  name: 'NewDeployToken',
  schema: Type.Object({ ...fields, token: Type.String() }),
  present: (row: DeployTokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})
