import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { cascades, changeProject, refuseCascades, rowsOfProject } from '../../../../test/tables/projects.ts'
import { mergeRequestsOf, rowsOfMergeRequest } from '../../../../test/tables/review.ts'
import { test, World } from '../../../../test/world.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { removeProject } from './jobs.ts'
import { type LargeTable, largeTables } from './large-table-queries.ts'
import { deleteSomeOf } from './removal-queries.ts'

test('deleting a project deletes its issues and merge requests in batches', async ({ world }) => {
  const { project, at, id } = await openMergeRequest(world, { labels: 'bug', assignee_ids: [1], description: '@root' })
  for (const branch of ['two', 'three']) await openMergeRequest(world, { project, branch, labels: 'bug' })
  const elsewhere = await openMergeRequest(world, { labels: 'bug' })
  await world.root.post(`${at}/approvals`, { approvals_required: 1 })
  await world.root.post(`/projects/${project.id}/milestones`, { title: '1.0' })
  for (let count = 0; count < 3; count++) await openIssue(world, { project, labels: 'bug' })
  await changeProject(world, project.id, { deleting: true })

  const [issues, merge_requests] = ['issues', 'merge_requests'].map(
    (name) => largeTables.find(({ table }) => table === name)!,
  ) as [LargeTable, LargeTable]
  expect(await deleteSomeOf(world.db, merge_requests, project.id, 2)).toBe(2)
  expect(await deleteSomeOf(world.db, issues, project.id, 2)).toBe(2)
  expect(await deleteSomeOf(world.db, issues, project.id, 2)).toBe(1)
  expect(await mergeRequestsOf(world, project.id)).toHaveLength(1)

  await removeProject.run({ projectId: project.id }, await contextFor(world, null))
  for (const place of ['projects where id', 'merge_requests where project_id', 'labels where project_id'])
    expect(await rowsOfProject(world, place, project.id), place).toEqual([])
  for (const table of ['merge_request_diffs', 'merge_request_labels', 'label_events', 'todos', 'mentions', 'notes'])
    expect(await rowsOfMergeRequest(world, table, id), table).toEqual([])
  expect((await world.root.get(elsewhere.at)).json.labels).toEqual(['bug'])
})

/** Tables with few rows of one project, which are deleted with its row; and those of which others are few. */
const small: readonly string[] = [
  'access_requests',
  'access_token_limits',
  'approval_rules',
  'approval_settings',
  'archive_imports',
  'badges',
  'boards',
  'container_cleanups',
  'container_repositories',
  'container_uploads',
  'custom_attributes',
  'deploy_key_projects',
  'deploy_tokens',
  'export_requests',
  'file_locks',
  'finished_exports',
  'forge_imports',
  'hooks',
  'import_reports',
  'internal_ids',
  'invitations',
  'issue_counts',
  'label_priorities',
  'labels',
  'members',
  'milestones',
  'notification_settings',
  'project_access',
  'project_activity',
  'project_group_links',
  'project_housekeeping',
  'project_imports',
  'project_languages',
  'project_statistics',
  'protected_refs',
  'pull_mirrors',
  'push_mirrors',
  'push_rules',
  'resource_bots',
  'routes',
  'variables',
]

test('every table with very many rows of a project is deleted in batches', async ({ world }) => {
  const known = new Set([...small, ...largeTables.map(({ table }) => table)])
  const keys = (await cascades(world)).filter(({ target }) =>
    ['projects', 'hooks', 'container_repositories'].includes(target),
  )
  expect(keys.filter(({ table }) => !known.has(table))).toEqual([])
  const indexed = (name: string, column: string) =>
    keys.some((key) => key.table === name && key.column === column && key.indexed)
  expect(
    largeTables.filter(({ table }) => keys.some((key) => key.table === table && !indexed(table, key.column))),
  ).toEqual([])
})

test('the row of a deleted project is deleted last: statuses, deployments, pushes and activity are gone before', async () => {
  await using world = await World.start()
  const { project, at, head } = await openMergeRequest(world)
  await openIssue(world, { project })
  const requests: [string, object][] = [
    [`${at}/notes`, { body: 'Well' }],
    [`/projects/${project.id}/statuses/${head}`, { state: 'success' }],
    [
      `/projects/${project.id}/deployments`,
      { environment: 'production', sha: head, ref: 'main', tag: false, status: 'success' },
    ],
    [`/projects/${project.id}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' }],
    [`/projects/${project.id}/star`, {}],
    [`/projects/${project.id}/repository/branches?branch=more&ref=main`, {}],
    [`/projects/${project.id}/repository/commits/${head}/comments`, { note: 'Good' }],
  ]
  for (const [path, body] of requests) {
    const made = await world.root.post(path, body)
    expect(made.status, `${path}: ${made.text}`).toBe(201)
  }
  await changeProject(world, project.id, { deleting: true })
  const tables = largeTables.map(({ table }) => table)
  await refuseCascades(world, tables)
  await removeProject.run({ projectId: project.id }, await world.app.open(null))
  expect(await rowsOfProject(world, 'projects where id', project.id)).toEqual([])
})
