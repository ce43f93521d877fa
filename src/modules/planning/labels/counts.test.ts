import { expect } from 'vitest'
import { changeIssue } from '../../../../test/tables/issues.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
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

/** Issues of a project that only administrators read: with a few entries of a label the issue of each is looked up, with more those of the place are read. */
test.for([
  ['few', 0],
  ['many', 20],
] as const)(
  'labels with %s entries count what the caller can read in the group or project only',
  async ([, more], { world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: group, visibility: 'public' })
    const [open, members, below] = await Promise.all([
      storedProject(world, { group, visibility: 'public' }),
      storedProject(world, { group, visibility: 'private', members: [[ann, 'guest']] }),
      storedProject(world, { group: inner, visibility: 'internal', members: [[ann, 'reporter']] }),
    ])
    await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })
    await world.root.post(`/groups/${inner.id}/labels`, { name: 'own', color: 'red' })
    const hidden = await storedProject(world, { group, visibility: 'private' })
    for (let each = 0; each < more; each++) await openIssue(world, { project: hidden, labels: 'bug' })
    for (const project of [open, members, below]) {
      await openIssue(world, { project, labels: 'bug' })
      await openIssue(world, { project, labels: 'bug', confidential: true })
      const closed = await openIssue(world, { project, labels: 'bug' })
      await changeIssue(world, closed.id, { state: 'closed' })
    }
    await openIssue(world, { project: below, labels: 'own' })
    // Who is no member cannot set labels.
    const { at } = await openIssue(world, { project: below, confidential: true, author: bob })
    await world.root.put(at, { labels: 'bug' })
    const counts = async (who: Client, path: string, name = 'bug') => {
      const { json } = await who.get(`${path}/labels?with_counts=true&include_ancestor_groups=true`)
      const label = json.find((each: { name: string }) => each.name === name)
      return [label.open_issues_count, label.closed_issues_count]
    }
    const expected = [
      [world.root, [7 + more, 3], [3, 1], [2, 1], [3, 1]],
      [ann, [5, 3], [3, 1], [1, 1], [3, 1]],
      [bob, [3, 2], [2, 1], [1, 1], [2, 1]],
    ] as const
    for (const [who, ofGroup, ofInner, ofOpen, ofBelow] of expected) {
      expect(await counts(who, `/groups/${group.id}`)).toEqual(ofGroup)
      expect(await counts(who, `/groups/${inner.id}`)).toEqual(ofInner)
      expect(await counts(who, `/groups/${inner.id}`, 'own')).toEqual([1, 0])
      expect(await counts(who, `/projects/${open.id}`)).toEqual(ofOpen)
      expect(await counts(who, `/projects/${below.id}`)).toEqual(ofBelow)
    }
    // Who has not signed in reads no issue.
    expect(await counts(world.anonymous, `/groups/${group.id}`)).toEqual([0, 0])
    expect(await counts(world.anonymous, `/groups/${inner.id}`, 'own')).toEqual([0, 0])
    // Neither of a project whose issues are off, nor of one that is being deleted.
    await world.root.put(`/projects/${open.id}`, { issues_access_level: 'disabled' })
    expect(await counts(world.root, `/groups/${group.id}`)).toEqual([5 + more, 2])
    await world.root.put(`/projects/${open.id}`, { issues_access_level: 'private' })
    expect(await counts(world.root, `/groups/${group.id}`)).toEqual([7 + more, 3])
    expect(await counts(bob, `/groups/${group.id}`)).toEqual([2, 1])
    await changeProject(world, open.id, { deleting: true })
    expect(await counts(world.root, `/groups/${group.id}`)).toEqual([5 + more, 2])
  },
)
