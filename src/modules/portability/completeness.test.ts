import { describe, expect } from 'vitest'
import { columnsOf, tablesBelow } from '../../../test/tables/portability.ts'
import { test } from '../../../test/world.ts'
import { groupRelations, projectRelations } from './layout/relations.ts'

/** Tables that refer to projects, or to what belongs to them, and have no relation, with the reason. */
const notExported: Readonly<Record<string, string>> = {
  access_requests: 'they are for the members of this installation',
  access_token_limits: 'credentials',
  approval_rule_groups: 'groups are not part of a project',
  archive_imports: 'work in progress',
  commit_signatures: 'computed again',
  container_blobs: 'images are not exported',
  container_cleanups: 'images are not exported',
  container_manifest_blobs: 'images are not exported',
  container_manifest_children: 'images are not exported',
  container_manifests: 'images are not exported',
  container_repositories: 'images are not exported',
  container_tag_history: 'images are not exported',
  container_tags: 'images are not exported',
  container_upload_parts: 'images are not exported',
  container_uploads: 'images are not exported',
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
  label_subscriptions: 'they would send mails',
  notification_settings: 'they would send mails',
  project_access: 'computed again',
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
  todos: 'none arise from an import',
  variables: 'secrets',
  wiki_pages: 'computed again',
}

/** Columns of exported tables that no relation has. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // Those of other holders.
  approval_rules: ['group_id'],
  custom_attributes: ['user_id', 'namespace_id'],
  protected_ref_access: ['group_id'],
  push_rules: ['namespace_id'],
  // An issue moves to another project.
  issues: ['moved_to_id', 'audience'],
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
  hooks: ['namespace_id', 'sealed_token', 'failures', 'service', 'properties'],
  // Read from the repository.
  snippets: ['file_name', 'files', 'size'],
}

describe('completeness of archives', () => {
  test('every table below projects is in archives, or named here with the reason', async ({ world }) => {
    const exported = new Set(projectRelations.map(({ table }) => table))
    const missing = (await tablesBelow(world, 'projects')).filter((table) => !exported.has(table))
    expect(missing.sort()).toEqual(Object.keys(notExported).sort())
  })

  test('every column of an exported table is in archives, or named here with the reason', async ({ world }) => {
    const found: Record<string, string[]> = {}
    for (const table of new Set([...projectRelations, ...groupRelations].map((relation) => relation.table))) {
      const relations = [...projectRelations, ...groupRelations].filter((relation) => relation.table === table)
      const known = new Set(
        relations.flatMap(({ columns, holder = [] }) => [
          ...holder,
          ...Object.entries(columns).map(([name, column]) => column.column ?? name),
        ]),
      )
      const missing = (await columnsOf(world, table)).filter((column) => column !== 'id' && !known.has(column))
      if (missing.length > 0) found[table] = missing
    }
    expect(found).toEqual(leftOut)
  })
})
