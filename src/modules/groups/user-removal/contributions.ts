import type { Tx } from '../../../db/db.ts'
import { boolean, integer, type RowOf } from '../../../db/row.ts'
import { emitAll } from '../../../events/log.ts'

/**
 * All columns that name the author of a row, and what happens to it when the user is deleted: it goes to the
 * placeholder account or, with `hard_delete`, is deleted or loses its author. All other references to users are deleted
 * with them (`on delete cascade`). A test compares this list with the foreign keys of the database.
 */
export type Contribution = {
  readonly table: string
  readonly column: string
  readonly hard: 'deleted' | 'anonymized'
  /** Columns that are unique for each user: rows that the placeholder account has already are dropped. */
  readonly once?: readonly string[]
  /** Deleted rows have events; `columns` are those of `DeletedRow`. */
  readonly deleted?: {
    readonly columns: string
    readonly emit: (tx: Tx, rows: readonly DeletedRow[]) => Promise<void>
  }
}

/** A row with a number in a project or group. */
export const deletedRow = { id: integer, iid: integer, holder_id: integer, confidential: boolean }
export type DeletedRow = RowOf<typeof deletedRow>

export const contributions: readonly Contribution[] = [
  {
    table: 'award_emoji',
    column: 'user_id',
    hard: 'deleted',
    once: ['merge_request_id', 'issue_id', 'snippet_id', 'epic_id', 'commit_id', 'note_id', 'name'],
  },
  { table: 'commented_commits', column: 'author_id', hard: 'anonymized' },
  { table: 'commit_statuses', column: 'user_id', hard: 'anonymized' },
  { table: 'deploy_tokens', column: 'creator_id', hard: 'anonymized' },
  { table: 'deployments', column: 'user_id', hard: 'anonymized' },
  {
    table: 'epics',
    column: 'author_id',
    hard: 'deleted',
    deleted: {
      columns: 'id, iid, namespace_id as holder_id, confidential',
      emit: (tx, rows) =>
        emitAll(
          tx,
          rows.map(({ id, iid, holder_id: groupId, confidential }) => ({
            kind: 'epic_deleted',
            groupId,
            actorId: null,
            payload: { epic_id: id, iid, confidential },
          })),
        ),
    },
  },
  { table: 'epics', column: 'closed_by_id', hard: 'anonymized' },
  { table: 'feed_events', column: 'author_id', hard: 'deleted' },
  { table: 'invitations', column: 'created_by_id', hard: 'anonymized' },
  {
    table: 'issues',
    column: 'author_id',
    hard: 'deleted',
    deleted: {
      columns: 'id, iid, project_id as holder_id, confidential',
      emit: (tx, rows) =>
        emitAll(
          tx,
          rows.map(({ id, iid, holder_id: projectId, confidential }) => ({
            kind: 'issue_deleted',
            projectId,
            actorId: null,
            payload: { issue_id: id, iid, confidential },
          })),
        ),
    },
  },
  { table: 'issues', column: 'closed_by_id', hard: 'anonymized' },
  { table: 'label_events', column: 'user_id', hard: 'deleted' },
  { table: 'members', column: 'created_by_id', hard: 'anonymized' },
  {
    table: 'merge_requests',
    column: 'author_id',
    hard: 'deleted',
    deleted: {
      columns: 'id, iid, project_id as holder_id, false as confidential',
      emit: (tx, rows) =>
        emitAll(
          tx,
          rows.map(({ id, iid, holder_id: projectId }) => ({
            kind: 'merge_request_deleted',
            projectId,
            actorId: null,
            payload: { merge_request_id: id, iid },
          })),
        ),
    },
  },
  { table: 'merge_requests', column: 'auto_merge_user_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'closed_by_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'collaboration_user_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'merged_by_id', hard: 'anonymized' },
  { table: 'milestone_events', column: 'user_id', hard: 'deleted' },
  { table: 'notes', column: 'author_id', hard: 'deleted' },
  { table: 'notes', column: 'resolved_by_id', hard: 'anonymized' },
  { table: 'pipelines', column: 'user_id', hard: 'anonymized' },
  { table: 'project_imports', column: 'actor_id', hard: 'anonymized' },
  { table: 'projects', column: 'creator_id', hard: 'anonymized' },
  { table: 'projects', column: 'mirror_user_id', hard: 'anonymized' },
  { table: 'push_mirrors', column: 'user_id', hard: 'anonymized' },
  { table: 'pushes', column: 'actor_id', hard: 'anonymized' },
  { table: 'releases', column: 'author_id', hard: 'anonymized' },
  { table: 'snippets', column: 'author_id', hard: 'deleted' },
  { table: 'ssh_keys', column: 'creator_id', hard: 'anonymized' },
  { table: 'state_events', column: 'user_id', hard: 'deleted' },
  { table: 'suggestion_commits', column: 'user_id', hard: 'anonymized' },
  { table: 'time_logs', column: 'user_id', hard: 'deleted' },
  { table: 'todos', column: 'author_id', hard: 'deleted' },
  { table: 'uploads', column: 'uploader_id', hard: 'anonymized' },
]
