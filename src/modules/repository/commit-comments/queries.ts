import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type AuthorRow, authorJson } from '../../accounts/index.ts'
import { type ChangedLine, visibleNote } from '../../discussion/index.ts'

/** A note of a commit in the format of comments. */
export const commitCommentRow = {
  id: integer,
  note: text,
  changed_line: nullable(json<ChangedLine>()),
  created_at: timestamp,
  author: json<AuthorRow>(),
}
export type CommitCommentRow = RowOf<typeof commitCommentRow>

const comment = sql`
  select n.id, n.body as note, n.changed_line, n.created_at, ${authorJson('u')} as author
  from notes n join users u on u.id = n.author_id
`

/** Notes of a commit, oldest first. Cross-references are shown to readers of their source. */
export const commentsOf = (caller: Caller, commitId: number): List => ({
  type: 'CommitComment',
  select: comment,
  from: raw('from notes n'),
  where: [sql`n.commit_id = ${commitId}`, visibleNote(caller)],
  order: [{ by: raw('n.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findComment = (db: Db, noteId: number): Promise<CommitCommentRow | undefined> =>
  db.row(commitCommentRow, sql`${comment} where n.id = ${noteId}`)

/** The row of a commit that is discussed. */
export const findDiscussedCommit = async (db: Db, projectId: number, oid: Oid): Promise<number | undefined> =>
  (
    await db.snapshotCache.row(
      { id: integer },
      sql`select id from commented_commits where project_id = ${projectId} and oid = ${oid}`,
    )
  )?.id

/** Locks the row until the transaction ends. False if it is gone. */
export const lockDiscussedCommit = (tx: Tx, id: number): Promise<boolean> =>
  tx.exists(sql`select from commented_commits where id = ${id} for update`)

export type NewDiscussedCommit = {
  readonly projectId: number
  readonly oid: Oid
  readonly title: string
  /** Users who may be the author, of which the first that exists is. */
  readonly authorIds: readonly number[]
}

/**
 * Makes the row, or locks it until the transaction ends. Resolves to its id; undefined if the project is being deleted. The project is updated after
 * it, as by other notes: in the other order, notes would wait for each other in a circle.
 */
export const beginDiscussedCommit = async (
  tx: Tx,
  { projectId, oid, title, authorIds }: NewDiscussedCommit,
): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into commented_commits (project_id, oid, title, author_id)
        select p.id, ${oid}, ${title}, (select min(u.id) from users u where u.id = any(${authorIds}::bigint[]))
        from projects p
        where p.id = ${projectId} and not p.deleting
        for key share
        on conflict (project_id, oid) do update set title = excluded.title, author_id = excluded.author_id
        returning id
      `,
    )
  )?.id
