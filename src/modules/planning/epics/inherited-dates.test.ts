import { describe, expect } from 'vitest'
import { type TestGroup, test, unique, type World } from '../../../../test/world.ts'
import { openIssue } from '../issues/testing.ts'
import { openEpic } from './testing.ts'

/** Adds an issue with a milestone of these dates to an epic. */
async function plan(world: World, group: TestGroup, at: string, start_date: string, due_date: string) {
  const issue = await openIssue(world, { project: await world.project({ group }) })
  const milestone = await world.root.post(`/groups/${group.id}/milestones`, {
    title: unique('milestone'),
    start_date,
    due_date,
  })
  await world.root.put(issue.at, { milestone_id: milestone.json.id })
  const added = await world.root.post(`${at}/issues/${issue.id}`)
  expect(added.status, added.text).toBe(201)
  return { issue, milestone: `/groups/${group.id}/milestones/${milestone.json.id}` }
}

const datesOf = async (world: World, at: string): Promise<(string | null)[]> => {
  const { json } = await world.root.get(at)
  expect(json.start_date_from_inherited_source).toBe(json.start_date_from_milestones)
  expect(json.due_date_from_inherited_source).toBe(json.due_date_from_milestones)
  return [json.start_date, json.due_date]
}

describe('dates of an epic that are not fixed', () => {
  test('come from milestones and child epics down to the fifth generation, and follow each change', async ({
    world,
  }) => {
    const top = await openEpic(world)
    const { group } = top
    const chain = [top]
    while (chain.length < 5) chain.push(await openEpic(world, { group, parent_id: chain.at(-1)!.id }))
    const [, second, third, , lowest] = chain
    expect(await datesOf(world, top.at)).toEqual([null, null])
    const own = await plan(world, group, top.at, '2030-03-01', '2030-03-10')
    const deep = await plan(world, group, lowest!.at, '2030-01-01', '2030-06-01')
    expect(await datesOf(world, top.at)).toEqual(['2030-01-01', '2030-06-01'])

    await world.root.put(deep.milestone, { due_date: '2030-07-01' })
    expect(await datesOf(world, top.at)).toEqual(['2030-01-01', '2030-07-01'])
    await world.root.put(lowest!.at, { state_event: 'close' })
    await world.root.put(deep.issue.at, { state_event: 'close' })
    expect(await datesOf(world, top.at)).toEqual(['2030-01-01', '2030-07-01'])

    const listed = (await world.root.get(`/groups/${group.id}/epics`)).json
    expect(listed.map((epic: any) => [epic.iid, epic.due_date])).toEqual(
      chain.map(({ iid }) => [iid, '2030-07-01']).toReversed(),
    )

    await world.root.put(third!.at, { parent_id: null })
    expect(await datesOf(world, top.at)).toEqual(['2030-03-01', '2030-03-10'])
    expect(await datesOf(world, second!.at)).toEqual([null, null])
    await world.root.put(third!.at, { parent_id: top.id })
    expect(await datesOf(world, top.at)).toEqual(['2030-01-01', '2030-07-01'])
    await world.root.delete(lowest!.at)
    expect(await datesOf(world, top.at)).toEqual(['2030-03-01', '2030-03-10'])
    await world.root.put(own.issue.at, { milestone_id: null })
    expect(await datesOf(world, top.at)).toEqual([null, null])
  })

  test('take the fixed date of a child instead of what it would inherit, each date for itself', async ({ world }) => {
    const top = await openEpic(world)
    const { group } = top
    const child = await openEpic(world, { group, parent_id: top.id })
    const below = await openEpic(world, { group, parent_id: child.id })
    await plan(world, group, below.at, '2030-01-01', '2030-06-01')
    await world.root.put(child.at, { start_date_is_fixed: true, start_date_fixed: '2030-02-02' })
    expect(await datesOf(world, top.at)).toEqual(['2030-02-02', '2030-06-01'])
    await world.root.put(child.at, { due_date_is_fixed: true, due_date_fixed: null })
    expect(await datesOf(world, top.at)).toEqual(['2030-02-02', null])
    await world.root.put(child.at, { start_date_is_fixed: false, due_date_is_fixed: false })
    expect(await datesOf(world, top.at)).toEqual(['2030-01-01', '2030-06-01'])
  })
})
