import { Type } from 'typebox'
import { scopes } from '../../../access/scopes.ts'
import { entity } from '../../../api/entity.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import type { TokenRow } from './queries.ts'

/** Fields of every token. */
export const tokenFields = {
  id: Type.Integer({ description: 'ID of the token' }),
  name: Type.String({ description: 'Name of the token' }),
  revoked: Type.Boolean({ description: 'True if the token was revoked' }),
  created_at: timestamp('Time at which the token was created'),
  scopes: Type.Array(Type.String({ enum: [...scopes] }), {
    description: 'Scopes of the token: what it may be used for',
  }),
  user_id: Type.Integer({ description: 'ID of the user that the token belongs to' }),
  last_used_at: nullable(timestamp(), {
    description: 'Time of the last use, recorded at most once in ten minutes; null if it was never used',
  }),
  active: Type.Boolean({ description: 'True if the token is neither revoked nor expired' }),
  expires_at: nullable(dateOnly(), {
    description: 'Expiry date, refused from this day on; null if it does not expire',
  }),
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
    Type.Object({
      project_ids: Type.Array(Type.Integer(), { description: 'IDs of projects' }),
      group_ids: Type.Array(Type.Integer(), {
        description: 'IDs of groups; their subgroups and projects are included',
      }),
    }),
    { description: 'Projects and groups to which the token is limited; null if unlimited' },
  ),
}

const present = (row: TokenRow) => ({ ...tokenRecord(row), limited_to: row.limited_to })

export const PersonalAccessToken = entity({ name: 'PersonalAccessToken', schema: Type.Object(personalFields), present })

/** Only the response that creates a token contains its value. */
export const NewPersonalAccessToken = entity({
  name: 'NewPersonalAccessToken',
  schema: Type.Object({
    ...personalFields,
    token: Type.String({ description: 'The secret; returned only in this response' }),
  }),
  present: (row: TokenRow & { token: string }) => ({ ...present(row), token: row.token }),
})

const impersonation = {
  ...personalFields,
  impersonation: Type.Boolean({ description: 'Always true: the token was created by an administrator' }),
}
const presentImpersonation = (row: TokenRow) => ({ ...present(row), impersonation: row.kind === 'impersonation' })

/** A token with which an administrator acts as another user. */
export const ImpersonationToken = entity({
  name: 'ImpersonationToken',
  schema: Type.Object(impersonation),
  present: presentImpersonation,
})

export const NewImpersonationToken = entity({
  name: 'NewImpersonationToken',
  schema: Type.Object({
    ...impersonation,
    token: Type.String({ description: 'The secret; returned only in this response' }),
  }),
  present: (row: TokenRow & { token: string }) => ({ ...presentImpersonation(row), token: row.token }),
})
