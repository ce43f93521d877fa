import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { renderEmoji } from './emoji.ts'
import type { StatusRow } from './queries.ts'

export const UserStatus = entity({
  name: 'UserStatus',
  schema: Type.Object({
    emoji: nullable(Type.String({ description: 'Short name without colons' })),
    message: nullable(Type.String(), { description: 'Text of the status; null if there is none' }),
    message_html: nullable(Type.String({ description: 'Message as HTML with rendered emoji' })),
  }),
  present: (status: StatusRow | typeof noStatus) => ({
    ...status,
    message_html: status.message === null ? null : renderEmoji(status.message),
  }),
})

/** Status of users who have not set one. */
export const noStatus = { emoji: null, message: null } as const
