import { describe, expect } from 'vitest'
import { type Client, type TestGroup, test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

const inGroup = (world: World, group: TestGroup, members: [Client, 'developer'][] = []): Promise<StoredProject> =>
  storedProject(world, { group, visibility: 'private', members })

const made = async (world: World, { id }: { id: number }, title: string): Promise<number> =>
  (await world.root.post(`/projects/${id}/milestones`, { title, due_date: '2020-01-31' })).json.id

describe('promotion of milestones', () => {
  test('a promoted milestone replaces those of its title in all projects of the group', async ({ world }) => {
    const group = await world.group()
    const [one, two] = [await inGroup(world, group), await inGroup(world, await world.group({ parent: group }))]
    const [first, second] = [await made(world, one, '1.0'), await made(world, two, '1.0')]
    const kept = await made(world, two, '2.0')
    const [here, there] = [
      await openMergeRequest(world, { project: one, milestone_id: first }),
      await openMergeRequest(world, { project: two, milestone_id: second }),
    ]
    await world.root.put(`/projects/${one.id}/milestones/${first}`, { state_event: 'close' })

    const promoted = await world.root.post(`/projects/${one.id}/milestones/${first}/promote`)

    expect(promoted).toMatchObject({
      status: 200,
      json: { iid: 1, group_id: group.id, title: '1.0', due_date: '2020-01-31', state: 'closed' },
    })
    for (const { at } of [here, there])
      expect((await world.root.get(at)).json.milestone).toMatchObject({ id: promoted.json.id, group_id: group.id })
    expect((await world.root.get(`/projects/${one.id}/milestones`)).json).toEqual([])
    expect((await world.root.get(`/projects/${two.id}/milestones`)).json).toMatchObject([{ id: kept }])
  })

  test('promoting a milestone needs the right to change milestones, and a project in a group', async ({ world }) => {
    const ann = await world.user()
    const project = await inGroup(world, await world.group(), [[ann, 'developer']])
    const id = await made(world, project, '1.0')
    expect((await ann.post(`/projects/${project.id}/milestones/${id}/promote`)).status).toBe(403)
    const own = (await ann.post('/projects', { name: 'own' })).json
    expect(await ann.post(`/projects/${own.id}/milestones/${await made(world, own, '1.0')}/promote`)).toMatchObject({
      status: 400,
      json: { message: 'Project does not belong to a group.' },
    })
  })

  test('400 when the group has a milestone of that title', async ({ world }) => {
    const group = await world.group()
    const project = await inGroup(world, group)
    const id = await made(world, project, '1.0')
    await world.root.post(`/groups/${group.id}/milestones`, { title: '1.0' })
    expect(await world.root.post(`/projects/${project.id}/milestones/${id}/promote`)).toMatchObject({
      status: 400,
      json: { message: 'Title already being used for another group or project milestone.' },
    })
    expect((await world.root.get(`/projects/${project.id}/milestones/${id}`)).status).toBe(200)
  })
})
