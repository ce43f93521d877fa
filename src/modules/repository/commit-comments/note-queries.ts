import type { List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, oneOf, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { raw, sql, wireTime } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import type { ChangedLine, TextPosition } from '../../discussion/index.ts'

/** A comment as part of a discussion. */
export const noteRow = {
  id: integer,
  commit_oid: textOf<Oid>(),
  note: text,
  author: json<UserReferenceRow>(),
  created_at: timestamp,
  updated_at: timestamp,
  /** Set for a comment on a changed line. */
  path: nullable(text),
  threaded: boolean,
  position: nullable(json<TextPosition>()),
}
export type NoteRow = RowOf<typeof noteRow>

export const discussionRow = {
  /** Id of its first note. */
  id: integer,
  discussion_id: text,
  /** Oldest first; at least one. */
  notes: json<NoteRow[]>(),
}
export type DiscussionRow = RowOf<typeof discussionRow>

/** Identifies a discussion on a commit. */
export type DiscussionKey = { readonly projectId: number; readonly commit: Oid; readonly discussionId: string }

const noteColumns = sql`
  n.id, n.commit_oid, n.note, ${userReferenceJson('u')} as author, n.created_at, n.updated_at, n.path, n.threaded,
  n.position
`

const discussion = sql`
  select c.id, c.discussion_id,
    (
      select json_agg(
        json_build_object(
          'id', n.id, 'commit_oid', n.commit_oid, 'note', n.note, 'author', ${userReferenceJson('u')},
          'created_at', ${wireTime(raw('n.created_at'))}, 'updated_at', ${wireTime(raw('n.updated_at'))}, 'path',
          n.path, 'threaded', n.threaded, 'position', n.position
        )
        order by n.id
      )
      from commit_comments n join users u on u.id = n.author_id
      where n.project_id = c.project_id and n.commit_oid = c.commit_oid and n.discussion_id = c.discussion_id
    ) as notes
  from commit_comments c
`

const isFirst =
  raw(`not exists (select from commit_comments e where e.project_id = c.project_id and e.commit_oid = c.commit_oid
  and e.discussion_id = c.discussion_id and e.id < c.id)`)

/** Discussions on a commit, oldest first. */
export const discussionsOf = (projectId: number, commit: Oid): List => ({
  type: 'Discussion',
  select: discussion,
  from: raw('from commit_comments c'),
  where: [sql`c.project_id = ${projectId}`, sql`c.commit_oid = ${commit}`, isFirst],
  order: [{ by: raw('c.id'), direction: 'asc' }],
})

export const findDiscussion = (
  db: Db | Tx,
  { projectId, commit, discussionId }: DiscussionKey,
): Promise<DiscussionRow | undefined> =>
  db.row(
    discussionRow,
    sql`
      ${discussion}
      where c.project_id = ${projectId} and c.commit_oid = ${commit} and c.discussion_id = ${discussionId}
      order by c.id
      limit 1
    `,
  )

/** Position of the first note of a discussion, which its replies share. */
export async function findRoot(
  db: Db,
  { projectId, commit, discussionId }: DiscussionKey,
): Promise<{ threaded: boolean; position: TextPosition | null; at: ChangedLine | undefined } | undefined> {
  const row = await db.row(
    {
      threaded: boolean,
      position: nullable(json<TextPosition>()),
      path: nullable(text),
      line: nullable(integer),
      line_type: nullable(oneOf<ChangedLine['kind']>('new', 'old')),
    },
    sql`
      select threaded, position, path, line, line_type
      from commit_comments
      where project_id = ${projectId} and commit_oid = ${commit} and discussion_id = ${discussionId}
      order by id
      limit 1
    `,
  )
  if (!row) return undefined
  const { threaded, position, path, line, line_type } = row
  // A check of the table: all three or none.
  const at = path === null || line === null || line_type === null ? undefined : { path, line, kind: line_type }
  return { threaded, position, at }
}

/** Notes of a discussion, oldest first. */
export const notesOf = ({ projectId, commit, discussionId }: DiscussionKey): List => ({
  type: 'Note',
  select: sql`select ${noteColumns} from commit_comments n join users u on u.id = n.author_id`,
  from: raw('from commit_comments n'),
  where: [sql`n.project_id = ${projectId}`, sql`n.commit_oid = ${commit}`, sql`n.discussion_id = ${discussionId}`],
  order: [{ by: raw('n.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findNote = (
  db: Db | Tx,
  { projectId, commit, discussionId }: DiscussionKey,
  id: number,
): Promise<NoteRow | undefined> =>
  db.row(
    noteRow,
    sql`
      select ${noteColumns}
      from commit_comments n join users u on u.id = n.author_id
      where n.project_id = ${projectId}
        and n.commit_oid = ${commit}
        and n.discussion_id = ${discussionId}
        and n.id = ${id}
    `,
  )

/** False if it is gone. */
export const updateNote = async (tx: Tx, id: number, note: string): Promise<boolean> =>
  (await tx.run(sql`update commit_comments set note = ${note}, updated_at = now() where id = ${id}`)) > 0

/** False if it is gone. */
export const deleteNote = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from commit_comments where id = ${id}`)) > 0
