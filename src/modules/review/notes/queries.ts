import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Position } from '../../repository/index.ts'

/** Whether something said about a merge request is still to be resolved. */
export const unresolvedSql = (mergeRequestId: Sql): Sql => sql`exists (
  select from notes r where r.merge_request_id = ${mergeRequestId} and r.threaded and r.resolved_at is null)`

export const hasUnresolved = async (db: Db, mergeRequestId: number): Promise<boolean> =>
  (await db.row<{ unresolved: boolean }>(sql`select ${unresolvedSql(sql`${mergeRequestId}::bigint`)} as unresolved`))!
    .unresolved

export type NewNote = {
  readonly projectId: number
  readonly mergeRequestId: number
  readonly authorId: number
  readonly discussionId: string
  readonly body: string
  /** Tells what somebody did. */
  readonly system?: boolean
  /** Part of a discussion, which is to be resolved. */
  readonly threaded?: boolean
  /** By its author: the discussion was resolved before. */
  readonly resolved?: boolean
  readonly position?: Position | null
  readonly createdAt?: Date | undefined
}

export const insertNote = async (tx: Tx, note: NewNote): Promise<{ id: number; created_at: Timestamp }> => {
  const { system = false, threaded = false, resolved = false, position = null, createdAt = null } = note
  const made = await tx.row<{ id: number; created_at: Timestamp }>(sql`
    insert into notes (project_id, merge_request_id, author_id, discussion_id, threaded, system, body, position, resolved_at,
      resolved_by_id, created_at, updated_at)
    values (${note.projectId}, ${note.mergeRequestId}, ${note.authorId}, ${note.discussionId}, ${threaded}, ${system}, ${note.body},
      ${position && JSON.stringify(position)}::jsonb, case when ${resolved} then now() end, case when ${resolved} then ${note.authorId}::bigint end,
      coalesce(${createdAt}, now()), coalesce(${createdAt}, now()))
    returning id, created_at`)
  return made!
}

/** How a discussion began, and whether all of it is resolved. */
export type DiscussionRoot = {
  readonly system: boolean
  readonly threaded: boolean
  readonly position: Position | null
  readonly resolved: boolean
}

export const findRoot = (tx: Tx, mergeRequestId: number, discussionId: string): Promise<DiscussionRoot | undefined> =>
  tx.row<DiscussionRoot>(sql`
    select n.system, n.threaded, n.position, n.threaded and not exists (
      select from notes o where o.merge_request_id = n.merge_request_id and o.discussion_id = n.discussion_id and o.resolved_at is null) as resolved
    from notes n where n.merge_request_id = ${mergeRequestId} and n.discussion_id = ${discussionId} order by n.id limit 1`)

/** A note by itself becomes a discussion. */
export const makeThread = (tx: Tx, mergeRequestId: number, discussionId: string): Promise<number> =>
  tx.run(
    sql`update notes set threaded = true where merge_request_id = ${mergeRequestId} and discussion_id = ${discussionId}`,
  )

/** False when it has gone. */
export const updateNote = async (tx: Tx, id: number, body: string): Promise<boolean> =>
  (await tx.run(sql`update notes set body = ${body}, updated_at = now() where id = ${id}`)) > 0

/** False when it has gone. */
export const deleteNote = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from notes where id = ${id}`)) > 0

/** What is resolved together: one note of a discussion, or all. */
export type Resolvable = { readonly mergeRequestId: number; readonly discussionId: string; readonly noteId?: number }

const those = ({ mergeRequestId, discussionId, noteId }: Resolvable): Sql =>
  sql`merge_request_id = ${mergeRequestId} and discussion_id = ${discussionId} and threaded
    and ${noteId === undefined ? raw('true') : sql`id = ${noteId}`}`

/** How many were not before. */
export const resolveNotes = (tx: Tx, which: Resolvable, userId: number): Promise<number> =>
  tx.run(
    sql`update notes set resolved_at = now(), resolved_by_id = ${userId} where ${those(which)} and resolved_at is null`,
  )

/** How many were before. */
export const unresolveNotes = (tx: Tx, which: Resolvable): Promise<number> =>
  tx.run(
    sql`update notes set resolved_at = null, resolved_by_id = null where ${those(which)} and resolved_at is not null`,
  )
