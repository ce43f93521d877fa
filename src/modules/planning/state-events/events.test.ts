import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { openIssue } from '../issues/testing.ts'

type Given = { readonly project?: StoredProject; readonly [attribute: string]: unknown }

const kinds = {
  Issue: (world: World, given: Given = {}) => openIssue(world, given),
  MergeRequest: (world: World, given: Given = {}) => openMergeRequest(world, given),
} as const

const list = async (who: Client, at: string, word: 'state' | 'milestone'): Promise<any[]> =>
  (await who.get(`${at}/resource_${word}_events`)).json

describe.each(Object.entries(kinds))('state and milestone events: %s', (type, open) => {
  test('a change of the state is an event with user and time, in a list and alone', async ({ world }) => {
    const { at, id } = await open(world)
    expect(await list(world.root, at, 'state')).toEqual([])
    await world.root.put(at, { state_event: 'close' })
    await world.root.put(at, { state_event: 'close' })
    await world.root.put(at, { state_event: 'reopen' })
    const events = await list(world.root, at, 'state')
    expect(events).toMatchObject([
      { resource_type: type, resource_id: id, state: 'closed', user: { id: world.root.id } },
      { resource_type: type, resource_id: id, state: 'reopened', user: { id: world.root.id } },
    ])
    expect((await world.root.get(`${at}/resource_state_events/${events[1].id}`)).json).toEqual(events[1])
    const other = await open(world)
    expect(await world.root.get(`${other.at}/resource_state_events/${events[1].id}`)).toMatchObject({
      status: 404,
      json: { message: '404 Not found' },
    })
    expect((await world.anonymous.get(`${at}/resource_state_events`)).status).toBe(401)
  })

  test('each change of the milestone is an event, which outlives the milestone', async ({ world }) => {
    const project = await storedProject(world, { visibility: 'public' })
    const make = async (title: string) =>
      (await world.root.post(`/projects/${project.id}/milestones`, { title })).json.id
    const [first, second] = [await make('1.0'), await make('2.0')]
    const { at, id } = await open(world, { project, milestone_id: first })
    await world.root.put(at, { milestone_id: second })
    await world.root.put(at, { title: 'Other' })
    await world.root.put(at, { milestone_id: 0 })
    const events = await list(world.root, at, 'milestone')
    expect(events).toMatchObject([
      { resource_type: type, resource_id: id, action: 'add', milestone: { id: first, title: '1.0' } },
      { action: 'add', milestone: { id: second } },
      { action: 'remove', milestone: { id: second } },
    ])
    expect((await world.root.get(`${at}/resource_milestone_events/${events[0].id}`)).json).toEqual(events[0])
    await world.root.delete(`/projects/${project.id}/milestones/${first}`)
    expect((await list(world.root, at, 'milestone'))[0]).toMatchObject({ action: 'add', milestone: null })
  })

  test('events follow a milestone that is promoted, and one whose project leaves the group', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const project = await storedProject(world, { group, visibility: 'public' })
    const made = (await world.root.post(`/projects/${project.id}/milestones`, { title: '1.0' })).json
    const { at } = await open(world, { project, milestone_id: made.id })
    const promoted = await world.root.post(`/projects/${project.id}/milestones/${made.id}/promote`)
    expect((await world.root.get(at)).json.milestone).toMatchObject({ id: promoted.json.id, group_id: group.id })
    expect(await list(world.root, at, 'milestone')).toMatchObject([{ milestone: { id: promoted.json.id } }])
    const other = await world.group({ visibility: 'public' })
    await world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id })
    const { milestone } = (await world.root.get(at)).json
    expect(milestone).toMatchObject({ title: '1.0', project_id: project.id })
    expect(await list(world.root, at, 'milestone')).toMatchObject([{ milestone: { id: milestone.id } }])
  })

  test('labels and their events follow a promotion, and a project that leaves the group', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const project = await storedProject(world, { group, visibility: 'public' })
    const { at } = await open(world, { project, labels: 'bug' })
    const promoted = (await world.root.put(`/projects/${project.id}/labels/bug/promote`)).json
    const labelsOf = async () => (await world.root.get(`${at}/resource_label_events`)).json.map((e: any) => e.label?.id)
    expect((await world.root.get(at)).json.labels).toEqual(['bug'])
    expect(await labelsOf()).toEqual([promoted.id])
    await world.root.put(`/projects/${project.id}/transfer`, {
      namespace: (await world.group({ visibility: 'public' })).id,
    })
    const own = (await world.root.get(`/projects/${project.id}/labels/bug`)).json
    expect(own).toMatchObject({ is_project_label: true })
    expect((await world.root.get(at)).json.labels).toEqual(['bug'])
    expect(await labelsOf()).toEqual([own.id])
  })
})

test('a merge is a state event', async ({ world }) => {
  const { at } = await openMergeRequest(world)
  expect((await world.root.put(`${at}/merge`)).status).toBe(200)
  expect(await list(world.root, at, 'state')).toMatchObject([{ state: 'merged', user: { id: world.root.id } }])
})

test('events of a confidential issue are hidden from users who cannot read it', async ({ world }) => {
  const [guest, reporter] = [await world.user(), await world.user()]
  const { at, project } = await openIssue(world, {
    members: [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ],
  })
  await reporter.put(at, { state_event: 'close' })
  const [{ id }] = await list(guest, at, 'state')
  await reporter.put(at, { confidential: true })
  const reads = [`${at}/resource_state_events`, `${at}/resource_state_events/${id}`, `${at}/resource_milestone_events`]
  for (const path of reads) {
    expect((await guest.get(path)).status, path).toBe(404)
    expect((await reporter.get(path)).status, path).toBe(200)
  }
  await world.root.put(`/projects/${project.id}/members/${reporter.id}`, { access_level: 10 })
  for (const path of reads) await expect.poll(async () => (await reporter.get(path)).status).toBe(404)
})
