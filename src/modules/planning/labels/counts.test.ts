import { expect } from 'vitest'
import { changeIssue } from '../../../../test/tables/issues.ts'
import { type Client, test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { openIssue } from '../issues/testing.ts'

test('label counts include only open merge requests that the caller can read', async ({ world }) => {
  const ann = await world.user()
  const group = await world.group()
  const [open, closed] = await Promise.all([
    storedProject(world, { group, visibility: 'private', members: [[ann, 'reporter']] }),
    storedProject(world, { group, visibility: 'private' }),
  ])
  await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })
  await openMergeRequest(world, { project: open, labels: 'bug' })
  const shut = await openMergeRequest(world, { project: open, labels: 'bug', branch: 'other' })
  await world.root.put(shut.at, { state_event: 'close' })
  await openMergeRequest(world, { project: closed, labels: 'bug' })
  const counts = async (who: Client, path: string) => {
    const [label] = (await who.get(`${path}/labels?with_counts=true`)).json
    return [label.open_merge_requests_count, label.open_issues_count, label.closed_issues_count]
  }
  expect(await counts(world.root, `/groups/${group.id}`)).toEqual([2, 0, 0])
  expect(await counts(ann, `/groups/${group.id}`)).toEqual([1, 0, 0])
  expect(await counts(world.root, `/projects/${closed.id}`)).toEqual([1, 0, 0])
  expect((await ann.get(`/projects/${open.id}/labels`)).json[0]).not.toHaveProperty('open_merge_requests_count')
})

test('labels count open and closed issues that the caller can read', async ({ world }) => {
  const ann = await world.user()
  const { project } = await openIssue(world, { labels: 'bug' })
  await openIssue(world, { project, labels: 'bug', confidential: true })
  const closed = await openIssue(world, { project, labels: 'bug' })
  await changeIssue(world, closed.id, { state: 'closed' })
  const counts = async (who: Client) => {
    const [label] = (await who.get(`/projects/${project.id}/labels?with_counts=true`)).json
    return [label.open_issues_count, label.closed_issues_count]
  }
  expect(await counts(world.root)).toEqual([2, 1])
  expect(await counts(ann)).toEqual([1, 1])
})
