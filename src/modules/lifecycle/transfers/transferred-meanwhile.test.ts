import { describe, expect } from 'vitest'
import { lockPlanned } from '../../../../test/tables/planning.ts'
import { type TestGroup, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

/** Issues and epics in nested groups, with what the outer group has; the second of each has an epic of the outer group already. */
async function planned(world: World) {
  const outer = await world.group()
  const inner = await world.group({ parent: outer })
  const project = await storedProject(world, { group: inner, visibility: 'private' })
  const made = async (path: string, input: object = {}) => (await world.root.post(path, input)).json
  const [issues, epics] = [`/projects/${project.id}/issues`, `/groups/${inner.id}/epics`]
  const above = await made(`/groups/${outer.id}/epics`, { title: 'Above' })
  const intoAbove = `/groups/${outer.id}/epics/${above.iid}/issues`
  const [issue, epic] = [await made(issues, { title: 'Issue' }), await made(epics, { title: 'Epic' })]
  return {
    inner,
    project,
    above,
    issue,
    label: await made(`/groups/${outer.id}/labels`, { name: 'bug', color: '#123456' }),
    milestone: await made(`/groups/${outer.id}/milestones`, { title: '1.0' }),
    atIssue: `${issues}/${issue.iid}`,
    atEpic: `${epics}/${epic.iid}`,
    intoAbove,
    linkOfOther: (await made(`${intoAbove}/${(await made(issues, { title: 'Other' })).id}`)).id,
    childOfAbove: (await made(epics, { title: 'Child', parent_id: above.id })).id,
  }
}

type Planned = Awaited<ReturnType<typeof planned>>

const transfers = {
  'its group': ({ root }: World, { inner }: Planned, to: TestGroup) =>
    root.post(`/groups/${inner.id}/transfer`, { group_id: to.id }),
  'it alone': ({ root }: World, { project }: Planned, to: TestGroup) =>
    root.put(`/projects/${project.id}/transfer`, { namespace: to.id }),
} as const
type Moved = keyof typeof transfers

type Request = () => Promise<{ status: number }>

/** Sends two requests, the second one while the first waits for a locked row. Resolves to their statuses. */
async function during(
  world: World,
  [table, id]: readonly ['epic_issues' | 'epics' | 'issues' | 'labels' | 'milestones', number],
  first: Request,
  second: Request,
): Promise<number[]> {
  const answers = await world.db.transaction(async (tx) => {
    await lockPlanned(tx, table, id)
    const waiting = first()
    await world.waitsForLock(1)
    const other = second()
    await Promise.race([other, world.waitsForLock(2)])
    return [waiting, other]
  })
  return (await Promise.all(answers)).map(({ status }) => status)
}

test('a project that is transferred out of a group is deleted at once by a request that waits for the transfer', async ({
  world,
}) => {
  await world.settings({ deletion_adjourned_period: 7 })
  const { project, linkOfOther } = await planned(world)
  const at = `/projects/${project.id}`
  const ann = await world.user()
  const statuses = await during(
    world,
    ['epic_issues', linkOfOther],
    () => world.root.put(`${at}/transfer`, { namespace: ann.username }),
    () => world.root.delete(at),
  )
  expect(statuses).toEqual([200, 202])
  expect((await world.root.get(at)).status).toBe(404)
})

describe.for(Object.keys(transfers) as Moved[])('a project that leaves a group, because %s is transferred', (moved) => {
  const transfer = async (world: World, place: Planned): Promise<Request> => {
    const to = await world.group()
    return () => transfers[moved](world, place, to)
  }
  /** Sends a request while a transfer, which has replaced what projects may no longer use, waits to take the last of it away. */
  const duringTransfer = async (world: World, place: Planned, request: Request) =>
    during(world, ['epic_issues', place.linkOfOther], await transfer(world, place), request)

  test('has a copy of the milestone that an issue gets before the transfer', async ({ world }) => {
    const place = await planned(world)
    const { project, issue, atIssue, milestone } = place
    const edit = () => world.root.put(atIssue, { milestone_id: milestone.id })
    expect(await during(world, ['issues', issue.id], edit, await transfer(world, place))).toEqual([
      200,
      moved === 'its group' ? 201 : 200,
    ])
    expect((await world.root.get(atIssue)).json.milestone).toMatchObject({ title: '1.0', project_id: project.id })
  })

  test('has issues without the milestone that they get meanwhile', async ({ world }) => {
    const place = await planned(world)
    const { atIssue, milestone } = place
    await duringTransfer(world, place, () => world.root.put(atIssue, { milestone_id: milestone.id }))
    expect((await world.root.get(atIssue)).json.milestone).toBeNull()
  })

  test('has a label that is promoted meanwhile in its new group', async ({ world }) => {
    const place = await planned(world)
    const at = `/projects/${place.project.id}`
    await world.root.post(`${at}/labels`, { name: 'own', color: '#123456' })
    expect(await duringTransfer(world, place, () => world.root.put(`${at}/labels/own/promote`))).toContain(200)
    const { namespace } = (await world.root.get(at)).json
    const labels = `/groups/${namespace.id}/labels?include_ancestor_groups=false`
    expect((await world.root.get(labels)).json).toMatchObject([{ name: 'own' }])
    expect((await world.root.get(`${at}/labels/own`)).json.is_project_label).toBe(false)
  })

  test('has a milestone that is promoted meanwhile in its new group', async ({ world }) => {
    const place = await planned(world)
    const at = `/projects/${place.project.id}`
    const { id } = (await world.root.post(`${at}/milestones`, { title: 'own' })).json
    await world.root.put(place.atIssue, { milestone_id: id })
    const promote = () => world.root.post(`${at}/milestones/${id}/promote`)
    expect(await duringTransfer(world, place, promote)).toContain(200)
    const { namespace } = (await world.root.get(at)).json
    expect((await world.root.get(place.atIssue)).json.milestone).toMatchObject({ title: 'own', group_id: namespace.id })
  })

  test.for(['an issue', 'a merge request'])(
    'has a copy of the label that %s gets before the transfer',
    async (what, { world }) => {
      const place = await planned(world)
      const at = what === 'an issue' ? place.atIssue : (await openMergeRequest(world, { project: place.project })).at
      const edit = () => world.root.put(at, { add_labels: 'bug' })
      await during(world, ['labels', place.label.id], edit, await transfer(world, place))
      expect((await world.root.get(at)).json.labels).toEqual(['bug'])
      expect((await world.root.get(`/projects/${place.project.id}/labels`)).json).toMatchObject([{ name: 'bug' }])
    },
  )

  test.for(['milestone', 'labels', 'list', 'milestone list'])(
    'has no board with a %s of the group that it gets before the transfer',
    async (what, { world }) => {
      const place = await planned(world)
      const { project, milestone, label } = place
      const boards = `/projects/${project.id}/boards`
      const at = `${boards}/${(await world.root.post(boards, { name: 'board' })).json.id}`
      const requests: Record<string, Request> = {
        milestone: () => world.root.put(at, { milestone_id: milestone.id }),
        labels: () => world.root.put(at, { labels: 'bug' }),
        list: () => world.root.post(`${at}/lists`, { label_id: label.id }),
        'milestone list': () => world.root.post(`${at}/lists`, { milestone_id: milestone.id }),
      }
      const row = what.startsWith('milestone')
        ? (['milestones', milestone.id] as const)
        : (['labels', label.id] as const)
      const statuses = await during(world, row, requests[what]!, await transfer(world, place))
      expect(Math.max(...statuses)).toBeLessThan(300)
      const { milestone: scope, labels, lists } = (await world.root.get(at)).json
      const used = [
        scope,
        ...labels,
        ...lists.flatMap((list: Record<string, unknown>) => [list['label'], list['milestone']]),
      ]
      const ids = used.filter(Boolean).map(({ id }) => id)
      expect(ids).not.toContain(what.startsWith('milestone') ? milestone.id : label.id)
      // The project has a copy.
      if (!what.startsWith('milestone')) expect(ids).toHaveLength(1)
    },
  )

  test.for(['created', 'edited'])(
    'has no milestone of the group in a release that is %s meanwhile',
    async (how, { world }) => {
      const place = await planned(world)
      const at = `/projects/${place.project.id}`
      const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
      await world.root.post(`${at}/repository/commits`, { branch: 'main', commit_message: 'Add a', actions })
      await world.root.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })
      const release = { tag_name: 'v1', milestones: ['1.0'] }
      if (how === 'edited') await world.root.post(`${at}/releases`, { tag_name: 'v1' })
      const [, status] = await duringTransfer(world, place, () =>
        how === 'edited' ? world.root.put(`${at}/releases/v1`, release) : world.root.post(`${at}/releases`, release),
      )
      expect(status).toBe(400)
      expect((await world.root.get(`${at}/releases/v1`)).json.milestones ?? []).toEqual([])
    },
  )

  test('has no issues in the epic of the group to which they are added meanwhile', async ({ world }) => {
    const place = await planned(world)
    const { issue, atIssue, intoAbove } = place
    const statuses = await duringTransfer(world, place, () => world.root.post(`${intoAbove}/${issue.id}`))
    expect(statuses[1]).toBe(400)
    expect((await world.root.get(atIssue)).json.epic).toBeNull()
  })
})

test('400 for a parent epic in a group that a transfer takes away meanwhile', async ({ world }) => {
  const place = await planned(world)
  const { above, atEpic, childOfAbove } = place
  const to = await world.group()
  const transfer = () => transfers['its group'](world, place, to)
  const edit = () => world.root.put(atEpic, { parent_id: above.id })
  expect(await during(world, ['epics', childOfAbove], transfer, edit)).toEqual([201, 400])
  expect((await world.root.get(atEpic)).json.parent_id).toBeNull()
})

test('an epic has the label of its own group after one that it gets before a transfer', async ({ world }) => {
  const place = await planned(world)
  const { inner, label, atEpic } = place
  const to = await world.group()
  const transfer = () => transfers['its group'](world, place, to)
  const edit = () => world.root.put(atEpic, { add_labels: 'bug' })
  expect(await during(world, ['labels', label.id], edit, transfer)).toEqual([200, 201])
  expect((await world.root.get(atEpic)).json.labels).toEqual(['bug'])
  expect((await world.root.get(`/groups/${inner.id}/labels`)).json).toMatchObject([{ name: 'bug' }])
})
