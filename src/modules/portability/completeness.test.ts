import { describe, expect } from 'vitest'
import { columnsOf, tablesBelow } from '../../../test/tables/portability.ts'
import { test } from '../../../test/world.ts'
import { portableGroupRow } from '../groups/portable/group-queries.ts'
import { groupRelations, projectRelations } from './layout/relations.ts'

/** Tables that refer to projects, or to what belongs to them, and have no relation, with the reason. */
const notExported: Readonly<Record<string, string>> = {
  access_requests: 'they are for the members of this installation',
  access_token_limits: 'credentials',
  approval_rule_groups: 'groups are not part of a project',
  archive_imports: 'work in progress',
  commit_signatures: 'computed again',
  container_cleanups: 'computed again',
  container_manifest_blobs: 'computed again',
  container_manifest_children: 'computed again',
  container_tag_history: 'what was deleted is not exported',
  container_upload_parts: 'work in progress',
  container_uploads: 'work in progress',
  deploy_key_projects: 'credentials',
  deploy_tokens: 'credentials',
  epic_issues: 'epics belong to groups',
  epic_labels: 'epics belong to groups',
  export_requests: 'work in progress',
  feed_events: 'activity is not exported',
  finished_exports: 'work in progress',
  forge_imports: 'work in progress',
  hook_deliveries: 'activity is not exported',
  import_reports: 'of the import to this installation',
  internal_ids: 'computed again',
  invitations: 'addresses of people who are not here yet',
  issue_agents: 'addresses of clients',
  issue_counts: 'computed again',
  issue_updates: 'computed again',
  label_subscriptions: 'they would send mails',
  merge_request_updates: 'computed again',
  notification_settings: 'they would send mails',
  project_access: 'computed again',
  project_activity: 'computed again',
  project_group_links: 'groups are not part of a project',
  project_housekeeping: 'state of the repository on disk',
  project_imports: 'work in progress',
  project_languages: 'computed again',
  project_statistics: 'computed again',
  pull_mirrors: 'credentials',
  push_mirrors: 'credentials',
  pushes: 'activity is not exported',
  ref_changes: 'activity is not exported',
  resource_bots: 'credentials',
  routes: 'the path is chosen by the importer',
  side_repositories: 'bundles',
  snippet_agents: 'addresses of clients',
  snippet_texts: 'computed again',
  stars: 'they are for the project of this installation',
  suggestion_commits: 'work in progress',
  todos: 'none arise from an import',
  variables: 'secrets',
  wiki_pages: 'computed again',
}

/** Columns of exported tables that no relation has. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // Groups are not part of a project.
  approval_rules: ['group_id'],
  container_blobs: ['used_at', 'deleted_at'],
  container_manifests: ['used_at', 'deleted_at'],
  container_repositories: ['deleting', 'deleted_at', 'bulk_deleted_at'],
  custom_attributes: ['user_id'],
  protected_ref_access: ['group_id'],
  // An issue moves to another project, and can be a duplicate of one there; its notes say so.
  issues: ['moved_to_id', 'audience', 'milestone_due', 'upvotes', 'label_priority', 'duplicated_to_id'],
  // Triggers copy them.
  issue_labels: ['noteable_state', 'noteable_audience'],
  merge_request_labels: ['noteable_state', 'noteable_audience'],
  members: ['notification_level', 'created_by_id'],
  // State of merging, and an automatic merge, which would act for its user.
  merge_requests: [
    'merge_status',
    'merge_status_source_oid',
    'merge_status_target_oid',
    'merge_error',
    'auto_merge_user_id',
    'auto_merge_oid',
    'auto_merge_options',
    'rebasing',
    'merging',
    'diff_id',
    'collaboration_user_id',
    'checking_since',
    'audience',
  ],
  // Tokens are secrets, and services are not hooks.
  hooks: ['sealed_token', 'failures', 'service', 'properties'],
  // Read from the repository.
  snippets: ['file_name', 'files', 'size'],
}

/** Tables that refer to groups, or to what belongs to them, and have no relation, with the reason. */
const notOfGroups: Readonly<Record<string, string>> = {
  access_requests: 'they are for the members of this installation',
  access_token_limits: 'credentials',
  approval_rule_branches: 'projects are not included',
  approval_rule_groups: 'the other group is not part of it',
  archive_imports: 'work in progress',
  custom_attributes: 'only administrators know them, and archives of groups are the same for all owners',
  deploy_tokens: 'credentials',
  epic_issues: 'projects are not included',
  export_requests: 'work in progress',
  feed_events: 'activity is not exported',
  finished_exports: 'work in progress',
  group_access: 'computed again',
  group_group_links: 'the other group is not part of it',
  hook_deliveries: 'activity is not exported',
  hooks: 'they are for the projects, which are not included',
  internal_ids: 'computed again',
  invitations: 'addresses of people who are not here yet',
  issue_labels: 'projects are not included',
  label_subscriptions: 'they would send mails',
  merge_request_labels: 'projects are not included',
  milestone_events: 'projects are not included',
  notification_settings: 'they would send mails',
  protected_ref_access: 'projects are not included',
  pushes: 'activity is not exported',
  ref_changes: 'activity is not exported',
  release_milestones: 'projects are not included',
  resource_bots: 'credentials',
  routes: 'the path is chosen by the importer',
  side_repositories: 'bundles',
  suggestions: 'projects are not included',
  todos: 'none arise from an import',
  variables: 'secrets',
  wiki_pages: 'computed again',
}

/** Columns of exported tables that no relation of groups has. */
const leftOutOfGroups: Readonly<Record<string, readonly string[]>> = {
  // Of rules of merge requests.
  approval_rules: ['source_rule_id'],
  members: ['notification_level', 'created_by_id'],
  // Epics have no lines and no discussions that are resolved.
  notes: ['position', 'resolved_at', 'resolved_by_id', 'changed_line'],
}

/** Columns of groups that their record has not, with the reason. */
const notOfGroup: Readonly<Record<string, string>> = {
  kind: 'it is a group',
  owner_id: 'of users',
  traversal_ids: 'computed again',
  full_path: 'computed again',
  full_name: 'computed again',
  avatar: 'a file of its own',
  avatar_digest: 'a file of its own',
  file_template_project_id: 'projects are not included',
  shared_runners_minutes_limit: 'decided by administrators of the installation',
  extra_shared_runners_minutes_limit: 'decided by administrators of the installation',
  runners_token: 'a credential',
  created_at: 'that of the new group',
  updated_at: 'that of the new group',
  deleting: 'it would be deleted',
  marked_for_deletion_on: 'it would be deleted',
}

/** `elsewhere` are columns of what belongs to the other holder. */
const kinds = [
  {
    of: 'projects',
    root: 'projects',
    relations: projectRelations,
    tables: notExported,
    columns: leftOut,
    elsewhere: /^(namespace|(source_)?epic)_id$/,
  },
  {
    of: 'groups',
    root: 'namespaces',
    relations: groupRelations,
    tables: notOfGroups,
    columns: leftOutOfGroups,
    elsewhere: /^((source_)?(project|issue|merge_request|snippet)_id|commit_id|source_commit)$/,
  },
] as const

describe('completeness of archives', () => {
  for (const { of, root, relations, tables, columns: unexported, elsewhere } of kinds) {
    test(`every table below ${of} is in their archives, or named here with the reason`, async ({ world }) => {
      const exported = new Set(relations.map(({ table }) => table))
      const missing = (await tablesBelow(world, root)).filter((table) => !exported.has(table))
      expect(missing.sort()).toEqual(Object.keys(tables).sort())
    })

    test(`every column of a table in archives of ${of} is there, or named here with the reason`, async ({ world }) => {
      const found: Record<string, string[]> = {}
      for (const table of new Set(relations.map((relation) => relation.table))) {
        const known = new Set(
          relations
            .filter((relation) => relation.table === table)
            .flatMap(({ columns, holder = [] }) => [
              ...holder,
              ...Object.entries(columns).map(([name, column]) => column.column ?? name),
            ]),
        )
        const missing = (await columnsOf(world, table)).filter(
          (column) => column !== 'id' && !known.has(column) && !elsewhere.test(column),
        )
        if (missing.length > 0) found[table] = missing
      }
      expect(found).toEqual(unexported)
    })
  }

  test('every column of groups is in their archives, or named here with the reason', async ({ world }) => {
    const missing = (await columnsOf(world, 'namespaces')).filter((name) => !Object.hasOwn(portableGroupRow, name))
    expect(missing).toEqual(Object.keys(notOfGroup))
  })
})
