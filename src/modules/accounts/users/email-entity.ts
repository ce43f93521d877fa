import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { EmailRow } from './email-queries.ts'

export const Email = entity({
  name: 'Email',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the email address' }),
    email: Type.String({ description: 'Email address of the user' }),
    confirmed_at: nullable(timestamp('Null until the address is confirmed')),
  }),
  present: ({ id, email, confirmed_at }: EmailRow) => ({ id, email, confirmed_at }),
})
