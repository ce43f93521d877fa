import type { Module } from './modules.ts'
import { isTest, type Violation } from './rules.ts'

/** The tables that each module, or folder of src, may write. */
const owners: Readonly<Record<string, readonly string[]>> = {
  instance: ['idempotency_keys', 'mailed_causes', 'mails', 'term_agreements', 'terms'],
  namespaces: ['audience_counts', 'group_access', 'namespaces', 'project_access', 'routes'],
  accounts: [
    'access_token_limits',
    'access_tokens',
    'email_addresses',
    'emails',
    'gpg_keys',
    'gpg_subkeys',
    'identities',
    'mail_links',
    'recovery_codes',
    'ssh_keys',
    'two_factor_demands',
    'two_factors',
    'user_follows',
    'user_statuses',
    'users',
  ],
  projects: [
    'deploy_key_projects',
    'installation',
    'internal_ids',
    'project_activity',
    'project_housekeeping',
    'project_languages',
    'project_statistics',
    'projects',
    'stars',
    'topics',
    'uploads',
  ],
  groups: [
    'access_requests',
    'badges',
    'custom_attributes',
    'deploy_tokens',
    'group_group_links',
    'invitations',
    'members',
    'notification_settings',
    'project_group_links',
    'resource_bots',
    'variables',
  ],
  pushes: [
    'file_locks',
    'large_files',
    'protected_ref_access',
    'protected_refs',
    'push_rules',
    'pushes',
    'ref_changes',
    'side_repositories',
    'signing_keys',
  ],
  administration: ['appearance', 'broadcast_messages', 'feature_flags'],
  ci: ['deployments', 'environments', 'pipelines'],
  discussion: [
    'award_emoji',
    'comment_counts',
    'issue_assignees',
    'mentions',
    'merge_request_assignees',
    'merge_request_reviewers',
    'notes',
    'subscriptions',
    'suggestions',
    'time_logs',
    'todos',
  ],
  repository: ['commented_commits', 'commit_signatures', 'commit_statuses', 'release_links', 'releases'],
  planning: [
    'board_assignees',
    'board_labels',
    'board_lists',
    'boards',
    'epic_issues',
    'epic_labels',
    'epics',
    'issue_agents',
    'issue_counts',
    'issue_labels',
    'issue_links',
    'issue_updates',
    'issues',
    'label_events',
    'label_priorities',
    'label_subscriptions',
    'labels',
    'merge_request_labels',
    'milestone_events',
    'milestones',
    'release_milestones',
    'state_events',
  ],
  text: ['snippet_agents', 'snippet_texts', 'snippets', 'wiki_pages'],
  registry: [
    'container_blobs',
    'container_cleanups',
    'container_manifest_blobs',
    'container_manifest_children',
    'container_manifests',
    'container_repositories',
    'container_tag_history',
    'container_tags',
    'container_upload_parts',
    'container_uploads',
  ],
  lifecycle: ['import_reports', 'project_imports', 'pull_mirrors', 'push_mirrors'],
  review: [
    'approval_rule_branches',
    'approval_rule_groups',
    'approval_rule_users',
    'approval_rules',
    'approval_settings',
    'approvals',
    'approvers',
    'issue_closings',
    'merge_request_commits',
    'merge_request_committers',
    'merge_request_diffs',
    'merge_request_updates',
    'merge_requests',
    'merge_requests_closing_issues',
    'suggestion_commits',
  ],
  blobs: ['blob_location', 'blob_objects'],
  db: ['table_changes', 'table_changes_kept'],
  integrations: ['hook_deliveries', 'hook_events', 'hooks'],
  portability: ['archive_imports', 'export_requests', 'finished_exports', 'forge_imports'],
  settings: ['application_settings'],
  events: ['audit_events', 'event_positions', 'events', 'feed_events'],
  jobs: ['job_runner'],
}

/** The tables of a module; empty if it owns none. */
export const tablesOf = (module: string): readonly string[] => owners[module] ?? []

const ownerOf = new Map(Object.entries(owners).flatMap(([owner, tables]) => tables.map((table) => [table, owner])))

/** Module, or folder of src, that owns a table. */
export const ownerOfTable = (table: string): string | undefined => ownerOf.get(table)

/** The tables that statements of a file write. */
export const tablesWritten = (code: string): Set<string> =>
  new Set(
    [...code.matchAll(/\b(?:insert into|update|delete from)\s+([a-z_]+)/g)]
      .flatMap(([, name]) => name ?? [])
      .filter((name) => ownerOf.has(name)),
  )

const folderOf = (path: string): string => /^src\/(?:modules\/)?([^/]+)\//.exec(path)?.[1] ?? ''

/** Files that write a table of another module. */
export const foreignWrites = (modules: readonly Module[]): Violation[] =>
  modules
    .filter(({ path }) => path.startsWith('src/') && !isTest(path) && !path.includes('/testing/'))
    .flatMap(({ path, code }) =>
      [...tablesWritten(code)]
        .filter((table) => folderOf(path) !== ownerOf.get(table))
        .map((table) => ({
          rule: 'tables-are-written-by-their-module',
          file: path,
          what: `writes ${table}`,
          instead: `use the face of ${ownerOf.get(table)}, or a reaction of it`,
        })),
    )

/** Files that write tables by names that no search finds in the statement, and why. */
const writesByName: Readonly<Record<string, string>> = {
  // Tables of the module itself.
  'src/modules/accounts/tokens/queries.ts': 'the last use of tokens and SSH keys',
  'src/modules/discussion/assignees/queries.ts': 'assignees of issues and merge requests, and reviewers',
  'src/modules/namespaces/access-index/queries.ts': 'the access to groups and projects',
  'src/modules/planning/epics/sibling-queries.ts': 'epics and issues in the order of their epic',
  'src/modules/planning/labels/assign-queries.ts': 'labels of issues, merge requests and epics',
  'src/modules/planning/labels/move-queries.ts': 'labels of issues, merge requests and epics',
  'src/modules/planning/labels/promotion-queries.ts': 'labels of issues, merge requests and epics',
  'src/modules/review/approval-rules/queries.ts': 'users, groups and branches of approval rules',
  // Tables of other modules, too.
  'src/modules/groups/user-removal/queries.ts':
    'gives what a deleted user made to another account; each module contributes its columns',
  'src/modules/namespaces/avatars/queries.ts': 'the columns of avatars, which projects and users have, too',
  'src/modules/projects/audiences/queries.ts':
    'the audience of issues and merge requests, which triggers of projects write in one statement otherwise',
  'src/modules/planning/milestones/move-queries.ts': 'the milestones of merge requests, which belong to a later module',
  // Tables that the caller names.
  'src/db/batches.ts':
    'deletes in batches for the module that owns the table, and what the foreign keys of a removed project or user would delete',
  'src/db/portable/write.ts': 'writes rows of an archive, for the tables that modules declare',
  'src/db/reseal.ts': 'encrypts all secrets with a new key',
}

/** Statements whose table is put in, which `foreignWrites` cannot see, and exceptions of `writesByName` that are not needed any more. */
export function writesByNameOf(modules: readonly Module[]): Violation[] {
  const writes = ({ path, code }: Module): boolean =>
    (/queries\.ts$/.test(path) || path.startsWith('src/db/')) &&
    !isTest(path) &&
    !path.includes('/testing/') &&
    /\b(?:insert into|update|delete from)\s+\$\{/.test(code)
  const found = new Set(modules.filter(writes).map(({ path }) => path))
  const violation = (file: string, what: string) => ({
    rule: 'tables-are-written-by-their-module',
    file,
    what,
    instead: 'name the table in the statement, or change `writesByName` in tools/boundaries/tables.ts with the reason',
  })
  return [
    ...[...found]
      .filter((path) => !(path in writesByName))
      .map((path) => violation(path, 'writes a table that it does not name')),
    ...Object.keys(writesByName)
      .filter((path) => modules.some((each) => each.path === path) && !found.has(path))
      .map((path) => violation(path, 'is an exception, and names all tables that it writes')),
  ]
}

/** Tables of the migrations without an owner, unless a migration drops them. */
export function tablesWithoutOwner(migrations: string): string[] {
  const named = (pattern: RegExp) => [...migrations.matchAll(pattern)].flatMap(([, name]) => name ?? [])
  const dropped = new Set(named(/\bdrop table ([a-z_]+)/g))
  return named(/\bcreate table (?:if not exists )?([a-z_]+)/g).filter(
    (name) => !ownerOf.has(name) && !dropped.has(name),
  )
}
