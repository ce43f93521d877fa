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
}

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
  { table: 'epics', column: 'author_id', hard: 'deleted' },
  { table: 'epics', column: 'closed_by_id', hard: 'anonymized' },
  { table: 'feed_events', column: 'author_id', hard: 'deleted' },
  { table: 'invitations', column: 'created_by_id', hard: 'anonymized' },
  { table: 'issues', column: 'author_id', hard: 'deleted' },
  { table: 'issues', column: 'closed_by_id', hard: 'anonymized' },
  { table: 'label_events', column: 'user_id', hard: 'deleted' },
  { table: 'members', column: 'created_by_id', hard: 'anonymized' },
  { table: 'merge_requests', column: 'author_id', hard: 'deleted' },
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
