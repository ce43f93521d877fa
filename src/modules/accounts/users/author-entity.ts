import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { timestamp } from '../../../api/schema.ts'
import type { AuthorRow } from './author-queries.ts'
import { UserReferenceSchema, userReference } from './entity.ts'
import { isPrivateTo } from './subject.ts'

/** The author of a comment or snippet, as the older form of these records shows them. */
export const AuthorSchema = Type.Object(
  {
    ...UserReferenceSchema.properties,
    email: Type.String({ description: 'Public email address; may be empty' }),
    created_at: Type.Optional(timestamp('Absent for private profiles of other users')),
  },
  { title: 'Author' },
)

export const authorRecord = (author: AuthorRow, ctx: Ctx) => ({
  ...userReference(author, ctx),
  email: author.public_email,
  ...(!isPrivateTo(ctx, author) && { created_at: author.created_at }),
})
