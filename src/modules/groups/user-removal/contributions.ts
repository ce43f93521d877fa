/**
 * All columns that name the author of a row, and what happens to it when the user is deleted: it goes to the
 * placeholder account or, with `hard_delete`, is deleted or loses its author. All other references to users are deleted
 * with them (`on delete cascade`). A test compares this list with the foreign keys of the database.
 */
export type Contribution = {
  readonly table: string
  readonly column: string
  /** The primary key, unless it is `id`. Rows are locked in its order. */
  readonly key?: 'id' | 'project_id' | 'token'
  /** The issue or project whose counts a trigger changes with the deletion of a row; it is locked before. */
  readonly countedBy?: 'issue_id' | 'project_id'
  /** The column of the same table with which other rows refer to a row. These are locked before it is deleted, as by an edit of them. */
  readonly referredBy?: 'parent_id'
  readonly hard: 'deleted' | 'anonymized'
  /** The rows lose their user without `hard_delete`, too: who closed or merged something is shown only while the account exists. */
  readonly soft?: 'anonymized'
  /** Columns that are unique for each user: rows that the placeholder account has already are dropped. */
  readonly once?: readonly string[]
  /** Rows that `hard` deletes have events. */
  readonly deleted?: DeletedRows
}

/** The event of a deleted row, and expressions for what it says of the row. */
export type DeletedRows = {
  readonly kind: 'epic_deleted' | 'issue_deleted' | 'merge_request_deleted' | 'note_deleted'
  /** Rows without an event. */
  readonly unless?: string
  readonly projectId?: string
  readonly groupId?: string
  readonly payload: string
}

export const contributions: readonly Contribution[] = [
  {
    table: 'award_emoji',
    column: 'user_id',
    countedBy: 'issue_id',
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
    referredBy: 'parent_id',
    hard: 'deleted',
    deleted: {
      kind: 'epic_deleted',
      groupId: 'namespace_id',
      payload: `jsonb_build_object('epic_id', id, 'iid', iid, 'confidential', confidential)`,
    },
  },
  { table: 'epics', column: 'closed_by_id', hard: 'anonymized', soft: 'anonymized' },
  { table: 'feed_events', column: 'author_id', hard: 'deleted' },
  { table: 'invitations', column: 'created_by_id', hard: 'anonymized' },
  {
    table: 'issues',
    column: 'author_id',
    countedBy: 'project_id',
    hard: 'deleted',
    deleted: {
      kind: 'issue_deleted',
      projectId: 'project_id',
      payload: `jsonb_build_object('issue_id', id, 'iid', iid, 'confidential', confidential)`,
    },
  },
  { table: 'issues', column: 'closed_by_id', hard: 'anonymized', soft: 'anonymized' },
  { table: 'label_events', column: 'user_id', hard: 'deleted' },
  { table: 'members', column: 'created_by_id', hard: 'anonymized' },
  {
    table: 'merge_requests',
    column: 'author_id',
    hard: 'deleted',
    deleted: {
      kind: 'merge_request_deleted',
      projectId: 'project_id',
      payload: `jsonb_build_object('merge_request_id', id, 'iid', iid)`,
    },
  },
  { table: 'merge_requests', column: 'auto_merge_user_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'closed_by_id', hard: 'anonymized', soft: 'anonymized' },
  { table: 'merge_requests', column: 'collaboration_user_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'merged_by_id', hard: 'anonymized', soft: 'anonymized' },
  { table: 'milestone_events', column: 'user_id', hard: 'deleted' },
  {
    table: 'notes',
    column: 'author_id',
    hard: 'deleted',
    deleted: {
      kind: 'note_deleted',
      unless: 'system',
      projectId: 'project_id',
      groupId: '(select e.namespace_id from epics e where e.id = epic_id)',
      payload: `jsonb_strip_nulls(
        jsonb_build_object(
          'note_id', id, 'discussion_id', discussion_id, 'noteable_type',
          case
            when epic_id is not null then 'Epic'
            when issue_id is not null then 'Issue'
            when merge_request_id is not null then 'MergeRequest'
            when snippet_id is not null then 'Snippet'
            else 'Commit'
          end,
          'noteable_id', coalesce(epic_id, issue_id, merge_request_id, snippet_id), 'noteable_iid',
          coalesce(
            (select e.iid from epics e where e.id = epic_id), (select i.iid from issues i where i.id = issue_id),
            (select m.iid from merge_requests m where m.id = merge_request_id), snippet_id
          ),
          'commit_id', (select c.oid from commented_commits c where c.id = commit_id)
        )
      )`,
    },
  },
  { table: 'notes', column: 'resolved_by_id', hard: 'anonymized' },
  { table: 'pipelines', column: 'user_id', hard: 'anonymized' },
  { table: 'project_imports', column: 'actor_id', key: 'project_id', hard: 'anonymized' },
  { table: 'projects', column: 'creator_id', hard: 'anonymized' },
  { table: 'projects', column: 'mirror_user_id', hard: 'anonymized' },
  { table: 'push_mirrors', column: 'user_id', hard: 'anonymized' },
  { table: 'pushes', column: 'actor_id', hard: 'anonymized' },
  { table: 'releases', column: 'author_id', hard: 'anonymized' },
  { table: 'snippets', column: 'author_id', hard: 'deleted' },
  { table: 'ssh_keys', column: 'creator_id', hard: 'anonymized' },
  { table: 'state_events', column: 'user_id', hard: 'deleted' },
  { table: 'suggestion_commits', column: 'user_id', key: 'token', hard: 'anonymized' },
  { table: 'time_logs', column: 'user_id', hard: 'deleted' },
  { table: 'todos', column: 'author_id', hard: 'deleted' },
  { table: 'uploads', column: 'uploader_id', hard: 'anonymized' },
]
