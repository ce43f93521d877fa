import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeProject, rowsOfProject } from '../../../../test/tables/projects.ts'
import { mergeRequestsOf, rowsOfMergeRequest } from '../../../../test/tables/review.ts'
import { test } from '../../../../test/world.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { removeProject } from './jobs.ts'
import { deleteSomeOf } from './removal-queries.ts'

test('deleting a project deletes its issues and merge requests in batches', async ({ world }) => {
  const { project, at, id } = await openMergeRequest(world, { labels: 'bug', assignee_ids: [1], description: '@root' })
  for (const branch of ['two', 'three']) await openMergeRequest(world, { project, branch, labels: 'bug' })
  const elsewhere = await openMergeRequest(world, { labels: 'bug' })
  await world.root.post(`${at}/approvals`, { approvals_required: 1 })
  await world.root.post(`/projects/${project.id}/milestones`, { title: '1.0' })
  for (let count = 0; count < 3; count++) await openIssue(world, { project, labels: 'bug' })
  await changeProject(world, project.id, { deleting: true })

  expect(await deleteSomeOf(world.db, 'merge_requests', project.id, 2)).toBe(2)
  expect(await deleteSomeOf(world.db, 'issues', project.id, 2)).toBe(2)
  expect(await deleteSomeOf(world.db, 'issues', project.id, 2)).toBe(1)
  expect(await mergeRequestsOf(world, project.id)).toHaveLength(1)

  await removeProject.run({ projectId: project.id }, await contextFor(world, null))
  for (const place of ['projects where id', 'merge_requests where project_id', 'labels where project_id'])
    expect(await rowsOfProject(world, place, project.id), place).toEqual([])
  for (const table of ['merge_request_diffs', 'merge_request_labels', 'label_events', 'todos', 'mentions', 'notes'])
    expect(await rowsOfMergeRequest(world, table, id), table).toEqual([])
  expect((await world.root.get(elsewhere.at)).json.labels).toEqual(['bug'])
})
