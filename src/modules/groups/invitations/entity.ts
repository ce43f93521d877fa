import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { accessLevel, nullable, timestamp } from '../../../api/schema.ts'
import type { InvitationRow } from './queries.ts'

export const Invitation = entity({
  name: 'Invitation',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the invitation' }),
    invite_email: Type.String({ description: 'Email address that was invited' }),
    access_level: accessLevel('Access level that the user gets by accepting'),
    // Compat: a time, unlike that of a member. Go clients cannot read a list with a date here.
    expires_at: nullable(timestamp('Start of the expiry date; no access from this day on')),
    created_at: timestamp('Time of the invitation'),
    created_by_name: nullable(Type.String({ description: 'Name of the inviter' })),
  }),
  present: (row: InvitationRow) => ({
    id: row.id,
    invite_email: row.email,
    access_level: row.access_level,
    expires_at: row.expires_at && `${row.expires_at}T00:00:00.000Z`,
    created_at: row.created_at,
    created_by_name: row.created_by_name,
  }),
})

/** The result for each address; `message` lists the errors by address, or one error for all. */
export type InvitationOutcome = {
  status: 'success' | 'error'
  message?: string | Readonly<Record<string, string>>
}

export const InvitationResult = entity({
  name: 'InvitationResult',
  schema: Type.Object({
    status: Type.String({
      enum: ['success', 'error'],
      description: 'error if any address was rejected; all others are invited',
    }),
    message: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.String())], {
        description: 'Error by email address',
      }),
    ),
  }),
  present: ({ status, message }: InvitationOutcome) => ({ status, ...(message !== undefined && { message }) }),
})
