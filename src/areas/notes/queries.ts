import type { Db, Tx } from '../../db/db.ts'
import { raw, type Sql, sql } from '../../db/sql.ts'
import type { Position } from '../commit-comments/position.ts'

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
  readonly system?: true
  /** Part of a discussion, which is to be resolved. */
  readonly threaded?: boolean
  readonly position?: Position | null
  readonly createdAt?: Date
}

/** Its number. */
export const insertNote = async (tx: Tx, note: NewNote): Promise<number> =>
  (await tx.row<{ id: number }>(sql`
    insert into notes (project_id, merge_request_id, author_id, discussion_id, threaded, system, body, position, created_at, updated_at)
    values (${note.projectId}, ${note.mergeRequestId}, ${note.authorId}, ${note.discussionId}, ${note.threaded === true},
      ${note.system === true}, ${note.body}, ${note.position ? JSON.stringify(note.position) : null}::jsonb,
      ${note.createdAt ?? raw('now()')}, ${note.createdAt ?? raw('now()')})
    returning id`))!.id
