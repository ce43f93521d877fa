import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { addLabel } from '../../../../test/tables/review.ts'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { openEpic } from '../epics/testing.ts'
import { openIssue } from '../issues/testing.ts'

describe('labels that issues, merge requests and epics create', () => {
  test('emit an event each, and none where the label exists', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const project = await storedProject(world, { group })
    const { at } = await openIssue(world, { project, labels: 'a,b' })
    await world.root.put(at, { labels: 'a,b,c' })
    await openMergeRequest(world, { project, labels: 'a,d' })
    const epic = await openEpic(world, { group, labels: 'e' })
    await world.root.put(epic.at, { add_labels: 'e,f' })
    const created = async (where: { project?: number; group?: number }) =>
      (await eventsOf(world, { ...where, kind: 'label_created' }, 'payload', 'actor_id')).map((event) => {
        expect(event.actor_id).toBe(world.root.id)
        return event.payload.label_id
      })
    const idsIn = async (path: string, names: string) =>
      (await world.root.get(`${path}/labels?include_ancestor_groups=false`)).json
        .filter(({ name }: { name: string }) => names.includes(name))
        .map(({ id }: { id: number }) => id)
    expect(new Set(await created({ project: project.id }))).toEqual(
      new Set(await idsIn(`/projects/${project.id}`, 'abcd')),
    )
    expect(await created({ project: project.id })).toHaveLength(4)
    expect(new Set(await created({ group: group.id }))).toEqual(new Set(await idsIn(`/groups/${group.id}`, 'ef')))
  })
})

describe('labels of a merge request', () => {
  test('labels of a merge request are found in the project and its groups, or created', async ({ world }) => {
    const top = await world.group({ visibility: 'public' })
    const group = await world.group({ visibility: 'public', parent: top })
    const { id } = (await world.root.post(`/groups/${top.id}/labels`, { name: 'shared', color: 'red' })).json
    const project = await storedProject(world, { group })
    const own = (await world.root.post(`/projects/${project.id}/labels`, { name: 'own', color: 'red' })).json
    const { record } = await openMergeRequest(world, { project, labels: 'shared, made ,own,shared' })
    expect(record.labels).toEqual(['made', 'own', 'shared'])
    expect((await world.root.get(`/projects/${project.id}/labels`)).json).toMatchObject([
      { name: 'made', color: '#428BCA', is_project_label: true },
      { id: own.id },
      { id, is_project_label: false },
    ])
  })

  test('of labels with one title, that of the project is assigned, then of the nearest group', async ({ world }) => {
    const top = await world.group({ visibility: 'public' })
    const group = await world.group({ visibility: 'public', parent: top })
    const project = await storedProject(world, { group })
    const label = { name: 'bug', color: 'red' }
    const inner = (await world.root.post(`/groups/${group.id}/labels`, label)).json
    await world.root.post(`/groups/${top.id}/labels`, label)
    const labelIn = async ({ at }: { at: string }) =>
      (await world.root.get(`${at}/resource_label_events`)).json.map(
        (event: { label: { id: number } }) => event.label.id,
      )
    expect(await labelIn(await openMergeRequest(world, { project, labels: 'bug' }))).toEqual([inner.id])
    // A project label from before the group label existed.
    const own = await addLabel(world, project.id)
    const other = await openMergeRequest(world, { project, labels: 'bug', branch: 'other' })
    expect(await labelIn(other)).toEqual([own.id])
  })

  test.for(['an issue', 'a merge request', 'an epic'] as const)(
    'label events of %s show the description of the label as HTML, as its details do',
    async (what, { world }) => {
      const group = await world.group()
      const project = await storedProject(world, { group, visibility: 'private' })
      const label = { name: 'bug', color: 'red', description: 'As &1 says' }
      await world.root.post(`/groups/${group.id}/labels`, label)
      await openEpic(world, { group })
      const { at } =
        what === 'an epic'
          ? await openEpic(world, { group })
          : await { 'an issue': openIssue, 'a merge request': openMergeRequest }[what](world, { project })
      await world.root.put(at, { labels: 'bug' })
      const details = (await world.root.get(`${at.replace(/\/\d+$/, '')}?with_labels_details=true`)).json
      const shown = details.flatMap(({ labels }: { labels: object[] }) => labels)
      expect(shown).toMatchObject([{ name: 'bug', description_html: expect.stringContaining('epics/1') }])
      const events = (await world.root.get(`${at}/resource_label_events`)).json
      expect(events.map((event: { label: object }) => event.label)).toEqual(shown)
      expect((await world.root.get(`${at}/resource_label_events/${events[0].id}`)).json.label).toEqual(shown[0])
    },
  )

  test('400 above 1,000 labels of a merge request, and invalid titles are ignored', async ({ world }) => {
    const { record, project } = await openMergeRequest(world, { labels: ['a', ' ', 'x'.repeat(256)] })
    expect(record.labels).toEqual(['a'])
    const many = Array.from({ length: 1001 }, (_, index) => `label ${index}`)
    const asked = { source_branch: 'main', target_branch: 'other', title: 'Many' }
    expect(await world.root.post(`/projects/${project.id}/merge_requests`, { ...asked, labels: many })).toMatchObject({
      status: 400,
      json: { message: { labels: ['has too many (maximum is 1000)'] } },
    })
    expect((await world.root.get(`/projects/${project.id}/labels`)).json).toHaveLength(1)
  })

  test('concurrently assigned labels are created once', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    const made = await Promise.all(
      [1, 2, 3].map((each) => openMergeRequest(world, { project, branch: `b${each}`, labels: 'new,other' })),
    )
    for (const { record } of made) expect(record.labels).toEqual(['new', 'other'])
    expect((await world.root.get(`/projects/${project.id}/labels`)).json).toHaveLength(2)
  })
})
