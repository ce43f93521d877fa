import { describe, expect } from 'vitest'
import { clearLabel } from '../../../../test/tables/review.ts'
import { type TestGroup, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

/** A project in nested groups, whose merge request has a label and a milestone of the outer group. */
async function labelled(world: World) {
  const top = await world.group()
  const inner = await world.group({ parent: top })
  const bug = { name: 'bug', color: '#123456', description: 'Broken' }
  const label = (await world.root.post(`/groups/${top.id}/labels`, bug)).json
  const due = { title: '1.0', description: 'First', due_date: '2020-01-01' }
  const milestone = (await world.root.post(`/groups/${top.id}/milestones`, due)).json
  const project = await storedProject(world, { group: inner, visibility: 'private' })
  await world.root.post(`/projects/${project.id}/labels`, { name: 'own', color: 'red' })
  await world.root.put(`/projects/${project.id}/labels/bug`, { priority: 3 })
  const { at } = await openMergeRequest(world, { project, labels: 'bug,own', milestone_id: milestone.id })
  return { top, inner, project, at, bug, due, label, milestone }
}

type Labelled = Awaited<ReturnType<typeof labelled>>

const moves = {
  'project transfer': (world: World, { project }: Labelled, to: TestGroup) =>
    world.root.put(`/projects/${project.id}/transfer`, { namespace: to.id }),
  'group transfer': (world: World, { inner }: Labelled, to: TestGroup) =>
    world.root.post(`/groups/${inner.id}/transfer`, { group_id: to.id }),
}

describe.for(Object.keys(moves) as (keyof typeof moves)[])('%s', (how) => {
  test('a moved project gets copies of the group labels and milestones it uses', async ({ world }) => {
    const place = await labelled(world)
    const { project, at, bug, due, label, milestone } = place
    await moves[how](world, place, await world.group())
    const labels = (await world.root.get(`/projects/${project.id}/labels`)).json
    expect(labels).toMatchObject([{ ...bug, is_project_label: true, priority: 3 }, { name: 'own' }])
    expect(labels[0].id).not.toBe(label.id)
    const moved = (await world.root.get(at)).json
    expect(moved.labels).toEqual(['bug', 'own'])
    expect(moved.milestone).toMatchObject({ ...due, project_id: project.id, iid: 1 })
    const events = (await world.root.get(`${at}/resource_label_events`)).json
    expect(events.map((event: { label: { id: number } }) => event.label.id)).toEqual(
      labels.map(({ id }: { id: number }) => id),
    )
    // Its previous group is unchanged.
    expect((await world.root.get(`/groups/${place.top.id}/labels`)).json).toMatchObject([{ id: label.id }])
    expect((await world.root.get(`/groups/${place.top.id}/milestones`)).json).toMatchObject([{ id: milestone.id }])
  })

  test('a moved project uses labels and milestones of the same title of its new groups', async ({ world }) => {
    const place = await labelled(world)
    const target = await world.group()
    const label = (await world.root.post(`/groups/${target.id}/labels`, { name: 'bug', color: 'red' })).json
    const milestone = (await world.root.post(`/groups/${target.id}/milestones`, { title: '1.0' })).json
    await moves[how](world, place, target)
    expect((await world.root.get(`/projects/${place.project.id}/labels`)).json).toMatchObject([
      { id: label.id, priority: 3 },
      { name: 'own' },
    ])
    expect((await world.root.get(place.at)).json).toMatchObject({
      labels: ['bug', 'own'],
      milestone: { id: milestone.id },
    })
  })
})

test('a project moved within a group keeps the labels and milestones of the group', async ({ world }) => {
  const place = await labelled(world)
  const { project, top, label, milestone } = place
  await world.root.put(`/projects/${project.id}/transfer`, { namespace: top.id })
  expect((await world.root.get(`/projects/${project.id}/labels/bug`)).json).toMatchObject({ id: label.id, priority: 3 })
  expect((await world.root.get(place.at)).json.milestone.id).toBe(milestone.id)
})

test('label events of labels that a moved project lost are hidden', async ({ world }) => {
  const { project, at, label } = await labelled(world)
  const [event] = (await world.root.get(`${at}/resource_label_events`)).json
  await clearLabel(world, label.id)
  await world.root.put(`/projects/${project.id}/transfer`, { namespace: (await world.group()).id })
  expect((await world.root.get(`${at}/resource_label_events`)).json).toMatchObject([{ label: { name: 'own' } }])
  expect((await world.root.get(`${at}/resource_label_events/${event.id}`)).status).toBe(404)
})
