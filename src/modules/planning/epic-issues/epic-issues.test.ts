import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openEpic } from '../epics/testing.ts'
import { openIssue } from '../issues/testing.ts'

/** A group with a project, an epic and some issues. */
async function given(
  world: World,
  { issues = 3, ...attributes }: { issues?: number; [attribute: string]: unknown } = {},
) {
  const epic = await openEpic(world, attributes)
  const project = await world.project({ group: epic.group, visibility: 'public' })
  const made = []
  for (let n = 0; n < issues; n++) made.push(await openIssue(world, { project }))
  return { epic, project, issues: made }
}

const add = (who: Client, at: string, issueId: number) => who.post(`${at}/issues/${issueId}`)
const idsIn = async (who: Client, at: string): Promise<number[]> =>
  (await who.get(`${at}/issues`)).json.map(({ id }: any) => id)
const notesOn = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: any) => body)

describe('issues of an epic', () => {
  test('are added, listed in their order and removed, with notes on both sides', async ({ world }) => {
    const { epic, project, issues } = await given(world)
    const [first, second] = issues
    const added = await add(world.root, epic.at, first!.id)
    expect(added).toMatchObject({
      status: 201,
      json: { relative_position: 1, epic: { id: epic.id }, issue: { id: first!.id, epic: { id: epic.id } } },
    })
    expect((await add(world.root, epic.at, first!.id)).json.id).toBe(added.json.id)
    await add(world.root, epic.at, second!.id)
    expect((await world.root.get(`${epic.at}/issues`)).json).toMatchObject([
      {
        id: first!.id,
        epic_issue_id: added.json.id,
        relative_position: 1,
        references: { relative: `${project.path}#1` },
      },
      { id: second!.id, relative_position: 2 },
    ])
    expect((await world.root.get(first!.at)).json).toMatchObject({
      epic_iid: 1,
      epic: { id: epic.id, iid: 1, group_id: epic.group.id, url: `/groups/${epic.group.full_path}/-/epics/1` },
    })
    const removed = await world.root.delete(`${epic.at}/issues/${added.json.id}`)
    expect(removed).toMatchObject({ status: 200, json: { id: added.json.id, issue: { id: first!.id } } })
    expect((await world.root.delete(`${epic.at}/issues/${added.json.id}`)).status).toBe(404)
    expect(await idsIn(world.root, epic.at)).toEqual([second!.id])
    expect((await world.root.get(first!.at)).json).toMatchObject({ epic_iid: null, epic: null })
    expect(await notesOn(world.root, first!.at)).toEqual(['added to epic &1', 'removed from epic &1'])
    expect(await notesOn(world.root, epic.at)).toEqual([
      `added issue ${project.path}#1`,
      `added issue ${project.path}#2`,
      `removed issue ${project.path}#1`,
    ])
  })

  test('are moved before and after each other', async ({ world }) => {
    const { epic, issues } = await given(world, { issues: 4 })
    const links: any[] = []
    for (const { id } of issues) links.push((await add(world.root, epic.at, id)).json.id)
    const place = (link: number, next: object) => world.root.put(`${epic.at}/issues/${link}`, next)
    const order = async () =>
      (await world.root.get(`${epic.at}/issues`)).json.map(({ epic_issue_id }: any) => links.indexOf(epic_issue_id))
    expect(await place(links[0], { move_before_id: links[2] })).toMatchObject({ status: 200, json: { length: 4 } })
    expect(await order()).toEqual([1, 2, 0, 3])
    await place(links[3], { move_after_id: links[1] })
    expect(await order()).toEqual([3, 1, 2, 0])
    await place(links[2], { move_before_id: links[3], move_after_id: links[1] })
    expect(await order()).toEqual([3, 2, 1, 0])
    expect((await place(links[0], { move_before_id: links[0] })).status).toBe(400)
    expect((await place(links[0], {})).status).toBe(400)
    expect((await place(links[0], { move_before_id: 999_999 })).status).toBe(404)
  })

  test('name their epic when they are created, updated, listed and moved', async ({ world }) => {
    const { epic, project, issues } = await given(world, { issues: 2 })
    const made = await openIssue(world, { project, epic_id: epic.id })
    expect(made.record.epic).toMatchObject({ id: epic.id })
    const [first, second] = issues
    expect((await world.root.put(first!.at, { epic_iid: epic.iid })).json.epic_iid).toBe(epic.iid)
    const at = `/projects/${project.id}/issues`
    const listed = async (query: string) =>
      (await world.root.get(`${at}?${query}`)).json.map(({ id }: any) => id).toSorted((a: number, b: number) => a - b)
    expect(await listed(`epic_id=${epic.id}`)).toEqual([first!.id, made.id])
    expect(await listed('epic_id=Any')).toEqual([first!.id, made.id])
    expect(await listed('epic_id=None')).toEqual([second!.id])
    expect(await listed(`not[epic_id]=${epic.id}`)).toEqual([second!.id])
    const counts = (await world.root.get(`/projects/${project.id}/issues_statistics?epic_id=${epic.id}`)).json
    expect(counts.statistics.counts.all).toBe(2)
    const target = await world.project({ group: epic.group, visibility: 'public' })
    const moved = (await world.root.post(`${first!.at}/move`, { to_project_id: target.id })).json
    expect(moved.epic).toMatchObject({ id: epic.id })
    const elsewhere = await world.project({ visibility: 'public' })
    const left = (await world.root.post(`${made.at}/move`, { to_project_id: elsewhere.id })).json
    expect(left.epic).toBeNull()
    expect((await world.root.put(second!.at, { epic_id: epic.id })).json.epic.id).toBe(epic.id)
    expect((await world.root.put(second!.at, { epic_id: 0 })).json.epic).toBeNull()
  })

  test('belong to projects below the group of the epic, and need the rights on both', async ({ world }) => {
    const [reporter, ofProject] = [await world.user(), await world.user()]
    const { epic, project, issues } = await given(world, { members: [[reporter, 'reporter']] })
    await world.root.post(`/projects/${project.id}/members`, { user_id: ofProject.id, access_level: 20 })
    const [issue] = issues
    expect((await ofProject.put(issue!.at, { epic_id: epic.id })).status).toBe(403)
    expect((await ofProject.post(`${epic.at}/issues/${issue!.id}`)).status).toBe(403)
    const foreign = await openIssue(world)
    expect((await reporter.post(`${epic.at}/issues/${foreign.id}`)).status).toBe(403)
    expect(await world.root.post(`${epic.at}/issues/${foreign.id}`)).toMatchObject({
      status: 400,
      json: { message: 'The group of the epic must be above the project of the issue' },
    })
    expect((await world.root.put(foreign.at, { epic_id: epic.id })).status).toBe(400)
    expect(await world.root.put(issue!.at, { epic_id: 999_999 })).toMatchObject({
      status: 404,
      json: { message: '404 Epic Not Found' },
    })
    expect((await add(reporter, epic.at, issue!.id)).status).toBe(201)
  })

  test('do not reveal an epic to those who may not read it', async ({ world }) => {
    const [guest, reporter] = [await world.user(), await world.user()]
    const { epic, project, issues } = await given(world, {
      confidential: true,
      members: [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ],
    })
    const [issue] = issues
    await add(reporter, epic.at, issue!.id)
    expect((await guest.get(issue!.at)).json).toMatchObject({ epic: null, epic_iid: null })
    expect(await notesOn(guest, issue!.at)).toEqual([])
    expect(await notesOn(reporter, issue!.at)).toEqual(['added to epic &1'])
    const at = `/projects/${project.id}/issues`
    for (const query of [`epic_id=${epic.id}`, 'epic_id=Any'])
      expect((await guest.get(`${at}?${query}`)).json).toEqual([])
    expect((await guest.get(`${at}?epic_id=None`)).json).toHaveLength(3)
    expect((await reporter.get(`${at}?epic_id=None`)).json).toHaveLength(2)
  })

  test('give the epic the dates of their milestones, unless it has fixed ones', async ({ world }) => {
    const { epic, issues } = await given(world, { issues: 2 })
    for (const [index, { id, at }] of issues.entries()) {
      const milestone = await world.root.post(`/groups/${epic.group.id}/milestones`, {
        title: `M${index}`,
        start_date: `2030-0${index + 1}-01`,
        due_date: `2030-0${index + 1}-20`,
      })
      await world.root.put(at, { milestone_id: milestone.json.id })
      await add(world.root, epic.at, id)
    }
    const dates = { start_date: '2030-01-01', due_date: '2030-02-20', end_date: '2030-02-20' }
    expect((await world.root.get(epic.at)).json).toMatchObject({ ...dates, due_date_from_milestones: '2030-02-20' })
    expect((await world.root.put(epic.at, { end_date: '2031-01-01' })).json).toMatchObject({
      ...dates,
      due_date: '2031-01-01',
      end_date: '2031-01-01',
      due_date_is_fixed: true,
      due_date_from_inherited_source: '2030-02-20',
    })
  })

  test('leave the epic when their project leaves its group', async ({ world }) => {
    const { epic, project, issues } = await given(world)
    await add(world.root, epic.at, issues[0]!.id)
    const elsewhere = await world.group()
    await world.root.put(`/projects/${project.id}/transfer`, { namespace: elsewhere.id })
    expect(await idsIn(world.root, epic.at)).toEqual([])
    expect((await world.root.get(issues[0]!.at)).json.epic).toBeNull()
  })
})
