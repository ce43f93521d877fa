import { describe, expect } from 'vitest'
import { addIssues } from '../../../../test/tables/issue-order.ts'
import { addIssueLabels, assignMilestone, staleOrderCopies } from '../../../../test/tables/issues.ts'
import { eventually } from '../../../../test/waiting.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { type OpenedIssue, openIssue } from '../issues/testing.ts'
import { savePriority } from '../labels/edit-queries.ts'
import { beginPriority, followPriority } from '../order-copies/jobs.ts'

/** More issues than change in one transaction. */
const many = 1_200

/** Issues of a new project, as many as names are wanted, and the numbers of those that lists in an order have. */
async function issuesOf(world: World, count: number) {
  const project = await storedProject(world)
  const issues: OpenedIssue[] = []
  for (let index = 0; index < count; index += 1) issues.push(await openIssue(world, { project }))
  const listed = async (order: string): Promise<number[]> =>
    (await world.root.get(`/projects/${project.id}/issues?order_by=${order}`)).json.map(
      ({ iid }: { iid: number }) => iid,
    )
  return { project, issues: issues as [OpenedIssue, OpenedIssue, OpenedIssue], listed }
}

const make = async (world: World, path: string, input: object): Promise<number> =>
  (await world.root.post(path, input)).json.id

const put = async (client: Client, path: string, input: object): Promise<void> => {
  const changed = await client.put(path, input)
  if (changed.status !== 200) throw new Error(`expected 200, got ${changed.status}: ${changed.text}`)
}

describe('lists of issues by the due date of the milestone', () => {
  test('follow the milestone when its date changes, when it is replaced and when it is deleted', async ({ world }) => {
    const { project, issues, listed } = await issuesOf(world, 3)
    const [first, second] = issues
    const milestones = `/projects/${project.id}/milestones`
    const early = await make(world, milestones, { title: 'early', due_date: '2031-01-01' })
    const late = await make(world, milestones, { title: 'late', due_date: '2032-01-01' })
    const sorted = async () => [
      await listed('milestone_due&sort=asc'),
      await listed('milestone_due&sort=desc'),
      await listed('priority'),
    ]
    await put(world.root, first.at, { milestone_id: late })
    await put(world.root, second.at, { milestone_id: early })
    expect(await sorted()).toEqual([
      [2, 1, 3],
      [1, 2, 3],
      [2, 1, 3],
    ])
    await put(world.root, `${milestones}/${early}`, { due_date: '2033-01-01' })
    expect(await sorted()).toEqual([
      [1, 2, 3],
      [2, 1, 3],
      [1, 2, 3],
    ])
    await put(world.root, first.at, { milestone_id: 0 })
    expect(await listed('milestone_due&sort=asc')).toEqual([2, 3, 1])
    await world.root.delete(`${milestones}/${early}`)
    expect(await listed('milestone_due&sort=asc')).toEqual([3, 2, 1])
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  })

  test('follow the milestone of more issues than one transaction changes', async ({ world }) => {
    const project = await storedProject(world)
    const milestones = `/projects/${project.id}/milestones`
    const milestone = await make(world, milestones, { title: 'all', due_date: '2031-01-01' })
    await addIssues(world, project.id, many)
    await assignMilestone(world, project.id, milestone)
    await put(world.root, `${milestones}/${milestone}`, { due_date: '2032-01-01' })
    expect(await staleOrderCopies(world, project.id)).toHaveLength(many - 1_000)
    await world.runJobs()
    await eventually(async () => expect(await staleOrderCopies(world, project.id)).toEqual([]))
  })
})

describe('lists of issues by popularity', () => {
  test('follow the awards of the issue, not those of its notes, nor other emoji', async ({ world }) => {
    const { project, issues, listed } = await issuesOf(world, 3)
    const [first, second] = issues
    const ann = await world.user()
    const award = async (client: Client, at: string, name = 'thumbsup') =>
      `${at}/award_emoji/${(await client.post(`${at}/award_emoji`, { name })).json.id}`
    const note = (await world.root.post(`${second.at}/notes`, { body: 'x' })).json.id
    await award(ann, first.at)
    const given = await award(world.root, first.at)
    await award(ann, second.at)
    await award(ann, second.at, 'tada')
    await award(ann, `${second.at}/notes/${note}`)
    await award(world.root, `${second.at}/notes/${note}`)
    expect(await listed('popularity')).toEqual([1, 2, 3])
    expect(await listed('popularity&sort=asc')).toEqual([3, 2, 1])
    await world.root.delete(given)
    expect(await listed('popularity')).toEqual([2, 1, 3])
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  })

  test('lose the awards of a deleted user', async ({ world }) => {
    const { project, issues, listed } = await issuesOf(world, 2)
    const ann = await world.user()
    await ann.post(`${issues[0].at}/award_emoji`, { name: 'thumbsup' })
    expect(await listed('popularity')).toEqual([1, 2])
    await world.root.delete(`/users/${ann.id}?hard_delete=true`)
    await world.runJobs()
    await eventually(async () => expect(await listed('popularity')).toEqual([2, 1]))
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  })

  test('count the awards of a moved issue', async ({ world }) => {
    const { issues } = await issuesOf(world, 1)
    const { project, listed } = await issuesOf(world, 1)
    await world.root.post(`${issues[0].at}/award_emoji`, { name: 'thumbsup' })
    await world.root.post(`${issues[0].at}/move`, { to_project_id: project.id })
    await openIssue(world, { project })
    expect(await listed('popularity')).toEqual([2, 3, 1])
  })
})

describe('lists of issues by label priority', () => {
  test('follow the labels of issues and the priorities of labels', async ({ world }) => {
    const { project, issues, listed } = await issuesOf(world, 3)
    const [first, second, third] = issues
    const labels = `/projects/${project.id}/labels`
    await world.root.post(labels, { name: 'urgent', color: 'red', priority: 1 })
    await world.root.post(labels, { name: 'soon', color: 'red' })
    await put(world.root, first.at, { labels: 'urgent,soon' })
    await put(world.root, second.at, { labels: 'soon' })
    expect(await listed('label_priority')).toEqual([1, 3, 2])
    await put(world.root, `${labels}/soon`, { priority: 0 })
    expect(await listed('label_priority')).toEqual([2, 1, 3])
    await put(world.root, `${labels}/soon`, { priority: 5 })
    await put(world.root, third.at, { labels: 'soon' })
    expect(await listed('priority')).toEqual([1, 3, 2])
    await put(world.root, first.at, { labels: '' })
    expect(await listed('label_priority')).toEqual([3, 2, 1])
    await put(world.root, first.at, { labels: 'urgent' })
    await put(world.root, third.at, { labels: '' })
    expect(await listed('label_priority')).toEqual([1, 2, 3])
    await put(world.root, `${labels}/soon`, { priority: null })
    expect(await listed('label_priority')).toEqual([1, 3, 2])
    await world.root.delete(`${labels}/urgent`)
    expect(await listed('label_priority')).toEqual([3, 2, 1])
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  })

  test('follow the priority of a label of more issues than one transaction changes', async ({ world }) => {
    const project = await storedProject(world)
    const labels = `/projects/${project.id}/labels`
    const label_id = await make(world, labels, { name: 'all', color: 'red' })
    const issues = await addIssues(world, project.id, many)
    await addIssueLabels(
      world,
      issues.map((issue_id) => ({ issue_id, label_id })),
    )
    await put(world.root, `${labels}/all`, { priority: 1 })
    expect(await staleOrderCopies(world, project.id)).toHaveLength(many - 1_000)
    await world.runJobs()
    await eventually(async () => expect(await staleOrderCopies(world, project.id)).toEqual([]))
  })

  test('follow a priority that is set again while another transaction changes it', async ({ world }) => {
    const { project, issues } = await issuesOf(world, 1)
    const labels = `/projects/${project.id}/labels`
    const label_id = await make(world, labels, { name: 'urgent', color: 'red', priority: 5 })
    await put(world.root, issues[0].at, { labels: 'urgent' })
    const [changed] = await world.db.transaction(async (tx) => {
      const use = { project_id: project.id, label_id }
      await beginPriority(tx, use)
      await savePriority(tx, project.id, label_id, 1)
      await followPriority(tx, use)
      const answer = world.root.put(`${labels}/urgent`, { priority: 5 })
      await world.waitsForLock()
      return [answer]
    })
    expect((await changed!).json).toMatchObject({ priority: 5 })
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  })

  test('follow labels that are promoted or replaced by those of another group', async ({ world }) => {
    const outer = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: outer, visibility: 'public' })
    const project = await storedProject(world, { group: inner })
    const issues = [await openIssue(world, { project }), await openIssue(world, { project })] as const
    const [first, second] = issues
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: 'red', priority: 2 })
    await put(world.root, first.at, { labels: 'bug' })
    const ofInner = await make(world, `/groups/${inner.id}/labels`, { name: 'bug', color: 'red' })
    await addIssueLabels(world, [{ issue_id: second.id, label_id: ofInner }])
    await world.runJobs()
    const fresh = () => eventually(async () => expect(await staleOrderCopies(world, project.id)).toEqual([]))
    await put(world.root, `/projects/${project.id}/labels/bug/promote`, {})
    await fresh()
    const ofOuter = await make(world, `/groups/${outer.id}/labels`, { name: 'bug', color: 'red' })
    const third = await openIssue(world, { project })
    await addIssueLabels(world, [{ issue_id: third.id, label_id: ofOuter }])
    await put(world.root, `/projects/${project.id}/transfer`, { namespace: outer.id })
    await fresh()
    const sorted = (await world.root.get(`/projects/${project.id}/issues?order_by=label_priority`)).json
    expect(sorted.map(({ iid }: { iid: number }) => iid)).toEqual([3, 2, 1])
  })
})

test('no order of issues is lost when milestones, labels and issues change at once', async ({ world }) => {
  const { project, issues } = await issuesOf(world, 6)
  const at = `/projects/${project.id}`
  const milestone = await make(world, `${at}/milestones`, { title: '1.0', due_date: '2031-01-01' })
  for (const name of ['one', 'two', 'three']) await world.root.post(`${at}/labels`, { name, color: 'red', priority: 1 })
  await world.runJobs()
  for (let round = 1; round <= 5; round += 1) {
    const day = String(round).padStart(2, '0')
    const answers = await Promise.all([
      ...issues.map((issue, index) =>
        world.root.put(issue.at, {
          labels: ['one', 'two', 'three', 'one,two', 'two,three', ''][(index + round) % 6],
          milestone_id: (index + round) % 2 === 0 ? milestone : 0,
        }),
      ),
      ...['one', 'two', 'three'].map((name, index) =>
        world.root.put(`${at}/labels/${name}`, { priority: (round * (index + 2)) % 7 }),
      ),
      world.root.put(`${at}/milestones/${milestone}`, { due_date: `2032-01-${day}` }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await staleOrderCopies(world, project.id)).toEqual([])
  }
})
