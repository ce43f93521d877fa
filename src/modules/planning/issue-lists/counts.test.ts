import { expect } from 'vitest'
import { changeIssue, deleteIssues, insertIssueIn, issueCountsOf } from '../../../../test/tables/issues.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { type Client, test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openIssue } from '../issues/testing.ts'

test('open_issues_count is right in the next request, whatever changes the issues', async ({ world }) => {
  const [rae, ann] = [await world.user(), await world.user()]
  const project = await storedProject(world, { visibility: 'public', members: [[rae, 'reporter']] })
  const count = async (who: Client) => {
    const one = (await who.get(`/projects/${project.id}`)).json.open_issues_count
    const [listed] = (await who.get(`/projects?search=${project.full_path.split('/')[1]}`)).json
    expect(listed.open_issues_count).toBe(one)
    return one
  }
  const counts = async () => [await count(rae), await count(ann)]
  const set = (id: number, column: 'state' | 'confidential', value: string | boolean) =>
    changeIssue(world, id, { [column]: value })
  expect(await counts()).toEqual([0, 0])
  const first = await openIssue(world, { project })
  const second = await openIssue(world, { project, confidential: true })
  expect(await counts()).toEqual([2, 1])
  await set(first.id, 'confidential', true)
  expect(await counts()).toEqual([2, 0])
  await set(first.id, 'state', 'closed')
  expect(await counts()).toEqual([1, 0])
  await set(first.id, 'confidential', false)
  await set(first.id, 'state', 'opened')
  expect(await counts()).toEqual([2, 1])
  await deleteIssues(world, [first.id, second.id])
  expect(await counts()).toEqual([0, 0])
  await openIssue(world, { project })
  await changeProject(world, project.id, { deleting: true })
  await deleteProject(world, { id: project.id })
  expect(await issueCountsOf(world, project.id)).toEqual([])
})

test('a new issue does not wait for one of another project that is not committed', async ({ world }) => {
  const [one, other] = [await openIssue(world), await openIssue(world)]
  const ctx = await world.app.open(null)
  await ctx.transaction(async (tx) => {
    await insertIssueIn(tx, one.project.id, 2)
    expect((await openIssue(world, { project: other.project })).iid).toBe(2)
  })
  expect((await world.root.get(`/projects/${one.project.id}`)).json.open_issues_count).toBe(2)
  expect((await world.root.get(`/projects/${other.project.id}`)).json.open_issues_count).toBe(2)
})

test('an issue that was closed from the start is counted when it is reopened', async ({ world }) => {
  const project = await storedProject(world)
  const ctx = await world.app.open(null)
  await ctx.transaction((tx) => insertIssueIn(tx, project.id, 1, 'closed'))
  const count = async () => (await world.root.get(`/projects/${project.id}`)).json.open_issues_count
  expect(await count()).toBe(0)
  const [{ id }] = (await world.root.get(`/projects/${project.id}/issues`)).json
  await changeIssue(world, id, { state: 'opened' })
  expect(await count()).toBe(1)
})

test('32 issues that are opened and closed at once are counted exactly', async ({ world }) => {
  const project = await storedProject(world)
  const opened = await Promise.all(Array.from({ length: 32 }, () => openIssue(world, { project })))
  await Promise.all(opened.slice(0, 20).map(({ id }) => changeIssue(world, id, { state: 'closed' })))
  expect((await world.root.get(`/projects/${project.id}`)).json.open_issues_count).toBe(12)
})

test('user_counts counts open issues assigned to the caller, readable and not archived', async ({ world }) => {
  const ann = await world.user()
  const count = async () => (await ann.get('/user_counts')).json
  const members = [[ann, 'reporter']] as [Client, 'reporter'][]
  const [one, two, three] = [
    await openIssue(world, { members, assignee_ids: [ann.id] }),
    await openIssue(world, { members, assignee_ids: [ann.id], confidential: true }),
    await openIssue(world, { members, assignee_ids: [ann.id], visibility: 'private' }),
  ]
  await openIssue(world, { members })
  expect(await count()).toEqual({ merge_requests: 0, assigned_issues: 3 })
  await changeIssue(world, one.id, { state: 'closed' })
  expect((await count()).assigned_issues).toBe(2)
  await changeProject(world, two.project.id, { archived: true })
  expect((await count()).assigned_issues).toBe(1)
  await world.root.delete(`/projects/${three.project.id}/members/${ann.id}`)
  expect((await count()).assigned_issues).toBe(0)
})
