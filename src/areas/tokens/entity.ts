import { Type } from 'typebox'
import { entity } from '../../api/entity.ts'
import { dateOnly, nullable, timestamp } from '../../api/schema.ts'
import type { TokenRow } from './queries.ts'

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  revoked: Type.Boolean(),
  created_at: timestamp(),
  scopes: Type.Array(Type.String()),
  user_id: Type.Integer(),
  last_used_at: nullable(timestamp()),
  active: Type.Boolean(),
  expires_at: nullable(dateOnly()),
}

const present = (row: TokenRow) => ({
  id: row.id,
  name: row.name,
  revoked: row.revoked,
  created_at: row.created_at,
  scopes: row.scopes,
  user_id: row.user_id,
  last_used_at: row.last_used_at,
  active: row.active,
  expires_at: row.expires_at,
})

export const PersonalAccessToken = entity({ name: 'PersonalAccessToken', schema: Type.Object(fields), present })

/** Only the answer that makes a token shows it. */
export const NewPersonalAccessToken = entity({
  name: 'NewPersonalAccessToken',
  schema: Type.Object({ ...fields, token: Type.String() }),
  present: (row: TokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})
