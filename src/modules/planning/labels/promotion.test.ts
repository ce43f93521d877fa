import { describe, expect } from 'vitest'
import { type Client, type TestGroup, test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

const inGroup = (world: World, group: TestGroup, members: [Client, 'reporter'][] = []): Promise<StoredProject> =>
  storedProject(world, { group, visibility: 'private', members })

describe('promotion of labels', () => {
  test('a promoted label replaces those of its title in all projects of the group', async ({ world }) => {
    const group = await world.group()
    const [one, two] = [await inGroup(world, group), await inGroup(world, await world.group({ parent: group }))]
    const elsewhere = await inGroup(world, await world.group())
    const [first, second, other] = [
      await openMergeRequest(world, { project: one, labels: 'bug' }),
      await openMergeRequest(world, { project: two, labels: 'bug,kept' }),
      await openMergeRequest(world, { project: elsewhere, labels: 'bug' }),
    ]
    await world.root.put(`/projects/${one.id}/labels/bug`, { color: 'teal', description: 'Broken', priority: 1 })
    await world.root.put(`/projects/${two.id}/labels/bug`, { priority: 2 })
    await world.root.post(`/projects/${two.id}/labels/bug/subscribe`)

    const promoted = await world.root.put(`/projects/${one.id}/labels/bug/promote`)

    expect(promoted).toMatchObject({ status: 200, json: { name: 'bug', color: '#008080', description: 'Broken' } })
    const { id } = promoted.json
    expect((await world.root.get(`/groups/${group.id}/labels`)).json).toMatchObject([{ id, subscribed: true }])
    for (const [project, priority] of [
      [one, 1],
      [two, 2],
    ] as const)
      expect((await world.root.get(`/projects/${project.id}/labels/bug`)).json).toMatchObject({
        id,
        priority,
        is_project_label: false,
      })
    expect((await world.root.get(first.at)).json.labels).toEqual(['bug'])
    expect((await world.root.get(second.at)).json.labels).toEqual(['bug', 'kept'])
    expect((await world.root.get(`${second.at}/resource_label_events`)).json[0].label.id).toBe(id)
    expect((await world.root.get(`/projects/${elsewhere.id}/labels/bug`)).json.is_project_label).toBe(true)
    expect((await world.root.get(other.at)).json.labels).toEqual(['bug'])
  })

  test('a promoted label is merged into a group label of its title', async ({ world }) => {
    const group = await world.group()
    const project = await inGroup(world, group)
    const { at } = await openMergeRequest(world, { project, labels: 'bug' })
    const { id } = (await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })).json
    const promoted = await world.root.put(`/projects/${project.id}/labels/promote`, { name: 'bug' })
    expect(promoted).toMatchObject({ status: 200, json: { id, color: '#FF0000' } })
    expect((await world.root.get(at)).json.labels).toEqual(['bug'])
    expect((await world.root.get(`/projects/${project.id}/labels`)).json).toMatchObject([{ id }])
  })

  test('promoting a label needs the right to change labels, and a project in a group', async ({ world }) => {
    const ann = await world.user()
    const project = await inGroup(world, await world.group(), [[ann, 'reporter']])
    await ann.post(`/projects/${project.id}/labels`, { name: 'bug', color: 'red' })
    expect((await ann.put(`/projects/${project.id}/labels/bug/promote`)).status).toBe(403)
    expect((await ann.get(`/projects/${project.id}/labels/bug`)).json.is_project_label).toBe(true)
    const own = (await ann.post('/projects', { name: 'own' })).json
    await ann.post(`/projects/${own.id}/labels`, { name: 'bug', color: 'red' })
    expect(await ann.put(`/projects/${own.id}/labels/bug/promote`)).toMatchObject({
      status: 400,
      json: { message: 'Failed to promote project label to group label' },
    })
  })
})
