import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { AuthorSchema, authorRecord, UserReferenceSchema, userReference } from '../../accounts/index.ts'
import type { CommitCommentRow } from './queries.ts'

const commentFields = {
  note: Type.String({ description: 'Text of the comment in Markdown' }),
  path: nullable(Type.String({ description: 'Path of the file' })),
  line: nullable(Type.Integer({ description: 'Position in the new file' })),
  line_type: nullable(Type.String({ enum: ['new', 'old'] }), {
    description: 'Side of the diff: `new` for the file after the commit; null for a comment on the commit',
  }),
  created_at: timestamp('Time at which the comment was created'),
}

const commentRecord = (row: CommitCommentRow, ctx: Ctx) => ({
  note: row.note,
  path: row.changed_line?.path ?? null,
  line: row.changed_line?.line ?? null,
  line_type: row.changed_line?.kind ?? null,
  author: userReference(row.author, ctx),
  created_at: row.created_at,
})

/** A comment on a commit in a list, with the full record of the author. */
export const CommitComment = entity({
  name: 'CommitComment',
  schema: Type.Object({
    ...commentFields,
    author: described(AuthorSchema, 'User who wrote the comment'),
  }),
  present: (row: CommitCommentRow, ctx) => ({ ...commentRecord(row, ctx), author: authorRecord(row.author, ctx) }),
})

/** The same in the response that creates it. */
export const CommitCommentCreated = entity({
  name: 'CommitCommentCreated',
  schema: Type.Object({ ...commentFields, author: described(UserReferenceSchema, 'User who wrote the comment') }),
  present: commentRecord,
})
