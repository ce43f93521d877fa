import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'

const color = '#112233'

/** A project in a group with a board; the group has a label and a milestone. */
async function scene(world: World) {
  const group = await world.group({ visibility: 'public' })
  const inner = await world.group({ parent: group, visibility: 'public' })
  const project = await storedProject(world, { group: inner })
  const label = (await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color })).json
  const milestone = (await world.root.post(`/groups/${group.id}/milestones`, { title: '1.0' })).json
  return { group, inner, project, label, milestone }
}

const boardWith = async (world: World, at: string, label_id: number, milestone_id: number): Promise<string> => {
  const board = `${at}/boards/${(await world.root.post(`${at}/boards`, { name: 'x' })).json.id}`
  for (const criterion of [{ label_id }, { milestone_id }]) {
    const made = await world.root.post(`${board}/lists`, criterion)
    if (made.status !== 201) throw new Error(made.text)
  }
  await world.root.put(board, { labels: 'bug', milestone_id })
  return board
}

describe('boards follow labels and milestones', () => {
  test('a promoted label or milestone replaces that of the project on its boards', async ({ world }) => {
    const project = await storedProject(world, { group: await world.group({ visibility: 'public' }) })
    const at = `/projects/${project.id}`
    const own = (await world.root.post(`${at}/labels`, { name: 'bug', color })).json
    const milestone = (await world.root.post(`${at}/milestones`, { title: '1.0' })).json
    const board = await boardWith(world, at, own.id, milestone.id)
    const label = (await world.root.put(`${at}/labels/${own.id}/promote`)).json
    const promoted = (await world.root.post(`${at}/milestones/${milestone.id}/promote`)).json
    expect((await world.root.get(board)).json).toMatchObject({
      labels: [{ id: label.id }],
      milestone: { id: promoted.id },
      lists: [{ label: { id: label.id } }, { milestone: { id: promoted.id } }],
    })
    expect(label.id).not.toBe(own.id)
  })

  test('a project that leaves a group gets copies of what its boards have of the group', async ({ world }) => {
    const { project, label, milestone } = await scene(world)
    const at = `/projects/${project.id}`
    const board = await boardWith(world, at, label.id, milestone.id)
    const elsewhere = await world.group({ visibility: 'public' })
    expect((await world.root.put(`${at}/transfer`, { namespace: elsewhere.id })).status).toBe(200)
    const { labels, lists, milestone: scope } = (await world.root.get(board)).json
    expect(lists).toMatchObject([{ label: { name: 'bug' } }, { milestone: { title: '1.0', project_id: project.id } }])
    expect(labels).toEqual([lists[0].label])
    expect(lists[0].label.id).not.toBe(label.id)
    expect(scope.id).toBe(lists[1].milestone.id)
  })

  test('a board of a group that leaves another one loses what it had of that', async ({ world }) => {
    const { inner, label, milestone } = await scene(world)
    const at = `/groups/${inner.id}`
    const board = await boardWith(world, at, label.id, milestone.id)
    const own = (await world.root.post(`${at}/labels`, { name: 'own', color })).json
    await world.root.post(`${board}/lists`, { label_id: own.id })
    const elsewhere = await world.group({ visibility: 'public' })
    expect((await world.root.post(`${at}/transfer`, { group_id: elsewhere.id })).status).toBe(201)
    expect((await world.root.get(board)).json).toMatchObject({
      labels: [],
      milestone: null,
      lists: [{ position: 0, label: { id: own.id } }],
    })
  })
})
