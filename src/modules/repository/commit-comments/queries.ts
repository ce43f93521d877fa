import type { List } from '../../../api/page.ts'
import type { Tx } from '../../../db/db.ts'
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type AuthorRow, authorJson } from '../../accounts/index.ts'
import type { ChangedLine, TextPosition } from '../../discussion/index.ts'
import { newDiscussionId } from '../../discussion/index.ts'

export const commitCommentRow = {
  id: integer,
  note: text,
  path: nullable(text),
  line: nullable(integer),
  line_type: nullable(oneOf('new', 'old')),
  created_at: timestamp,
  author: json<AuthorRow>(),
}
export type CommitCommentRow = RowOf<typeof commitCommentRow>

const columns = sql`c.id, c.note, c.path, c.line, c.line_type, c.created_at, ${authorJson('u')} as author`

/** Comments on a commit, oldest first. */
export const commentsOf = (projectId: number, commit: Oid): List => ({
  type: 'CommitComment',
  select: sql`select ${columns} from commit_comments c join users u on u.id = c.author_id`,
  from: sql`from commit_comments c`,
  where: [sql`c.project_id = ${projectId}`, sql`c.commit_oid = ${commit}`],
  order: [{ by: sql`c.id`, direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export type NewComment = {
  projectId: number
  commit: Oid
  authorId: number
  note: string
  /** The line; `undefined` for the whole commit. */
  at: ChangedLine | undefined
  /** The discussion it starts or belongs to; `undefined` for a single comment. */
  discussion?: { readonly id: string; readonly threaded: boolean; readonly position: TextPosition | null }
}

/** Undefined if the project is being deleted. */
export const insertComment = (
  tx: Tx,
  { projectId, commit, authorId, note, at, discussion }: NewComment,
): Promise<CommitCommentRow | undefined> =>
  tx.row(
    commitCommentRow,
    sql`
      with c as (
        insert into commit_comments (
          project_id, commit_oid, author_id, note, path, line, line_type, discussion_id, threaded,
          position
        )
        select p.id, ${commit}, ${authorId}, ${note}, ${at?.path ?? null}, ${at?.line ?? null},
          ${at?.kind ?? null}, ${discussion?.id ?? newDiscussionId()}, ${discussion?.threaded === true},
          ${discussion?.position ? JSON.stringify(discussion.position) : null}::jsonb
        from projects p
        where p.id = ${projectId} and not p.deleting
        for no key update
        returning *
      )
      select ${columns}
      from c join users u on u.id = c.author_id
    `,
  )
