/**
 * All columns that name the author of a row, and what happens to it when the user is deleted: it goes to the
 * placeholder account or, with `hard_delete`, is deleted or loses its author. All other references to users are deleted
 * with them (`on delete cascade`). A test compares this list with the foreign keys of the database.
 */
export type Contribution = {
  readonly table: string
  readonly column: string
  readonly hard: 'deleted' | 'unlinked'
  /** Columns that are unique for each user: rows that the placeholder account has already are dropped. */
  readonly once?: readonly string[]
}

export const contributions: readonly Contribution[] = [
  { table: 'award_emoji', column: 'user_id', hard: 'deleted', once: ['merge_request_id', 'note_id', 'name'] },
  { table: 'commit_comments', column: 'author_id', hard: 'deleted' },
  { table: 'commit_statuses', column: 'user_id', hard: 'unlinked' },
  { table: 'deploy_tokens', column: 'creator_id', hard: 'unlinked' },
  { table: 'feed_events', column: 'author_id', hard: 'deleted' },
  { table: 'invitations', column: 'created_by_id', hard: 'unlinked' },
  { table: 'label_events', column: 'user_id', hard: 'deleted' },
  { table: 'members', column: 'created_by_id', hard: 'unlinked' },
  { table: 'merge_requests', column: 'author_id', hard: 'deleted' },
  { table: 'merge_requests', column: 'auto_merge_user_id', hard: 'unlinked' },
  { table: 'merge_requests', column: 'closed_by_id', hard: 'unlinked' },
  { table: 'merge_requests', column: 'collaboration_user_id', hard: 'unlinked' },
  { table: 'merge_requests', column: 'merged_by_id', hard: 'unlinked' },
  { table: 'notes', column: 'author_id', hard: 'deleted' },
  { table: 'notes', column: 'resolved_by_id', hard: 'unlinked' },
  { table: 'pipelines', column: 'user_id', hard: 'unlinked' },
  { table: 'project_imports', column: 'actor_id', hard: 'unlinked' },
  { table: 'projects', column: 'creator_id', hard: 'unlinked' },
  { table: 'pushes', column: 'actor_id', hard: 'unlinked' },
  { table: 'releases', column: 'author_id', hard: 'unlinked' },
  { table: 'ssh_keys', column: 'creator_id', hard: 'unlinked' },
  { table: 'time_logs', column: 'user_id', hard: 'deleted' },
  { table: 'todos', column: 'author_id', hard: 'deleted' },
  { table: 'uploads', column: 'uploader_id', hard: 'unlinked' },
]

/** Tables whose rows belong to the user and are deleted with the account. */
export const belongings: readonly string[] = [
  'access_requests',
  'access_tokens',
  'approvals',
  'approvers',
  'custom_attributes',
  'email_addresses',
  'emails',
  'file_locks',
  'gpg_keys',
  'group_access',
  'identities',
  'label_subscriptions',
  'mail_links',
  'members',
  'mentions',
  'merge_request_assignees',
  'namespaces',
  'notification_settings',
  'project_access',
  'protected_ref_access',
  'resource_bots',
  'sessions',
  'ssh_keys',
  'stars',
  'subscriptions',
  'term_agreements',
  'todos',
  'two_factor_demands',
  'two_factors',
  'user_follows',
  'user_statuses',
]
