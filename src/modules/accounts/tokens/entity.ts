import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import type { TokenRow } from './queries.ts'

/** What every token says of itself. */
export const tokenFields = {
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

export const tokenRecord = (row: TokenRow) => ({
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

const personalFields = {
  ...tokenFields,
  limited_to: nullable(
    Type.Object({ project_ids: Type.Array(Type.Integer()), group_ids: Type.Array(Type.Integer()) }),
    { description: 'Projects and groups to which the token is limited; null if unlimited' },
  ),
}

const present = (row: TokenRow) => ({ ...tokenRecord(row), limited_to: row.limited_to })

export const PersonalAccessToken = entity({ name: 'PersonalAccessToken', schema: Type.Object(personalFields), present })

/** Only the answer that makes a token shows it. */
export const NewPersonalAccessToken = entity({
  name: 'NewPersonalAccessToken',
  schema: Type.Object({ ...personalFields, token: Type.String() }),
  present: (row: TokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})

const impersonation = { ...personalFields, impersonation: Type.Boolean() }
const presentImpersonation = (row: TokenRow) => ({ ...present(row), impersonation: row.kind === 'impersonation' })

/** A token by which an administrator acts as somebody. */
export const ImpersonationToken = entity({
  name: 'ImpersonationToken',
  schema: Type.Object(impersonation),
  present: presentImpersonation,
})

export const NewImpersonationToken = entity({
  name: 'NewImpersonationToken',
  schema: Type.Object({ ...impersonation, token: Type.String() }),
  present: (row: TokenRow & { token: string }) => ({ ...presentImpersonation(row), token: row.token }),
})
