import {
  EpicDiscussions,
  EpicIssues,
  EpicLabelEvents,
  EpicLinks,
  EpicNotes,
  Epics,
  Issues,
  TodoLists,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest plans with epics: their issues, notes, discussions, label events and todos', async ({
  world,
}) => {
  const ann = await world.user()
  const group = await world.group({ visibility: 'private', members: [[ann, 'reporter']] })
  const project = await world.project({ group })
  const [first, second] = [await openIssue(world, { project }), await openIssue(world, { project })]
  const options = { host: world.origin, token: ann.token! }

  const epics = new Epics(options)
  const epic = await epics.create(group.id, 'Faster builds', {
    labels: 'speed',
    startDateIsFixed: true,
    startDateFixed: '2030-01-02',
  } as never)
  expect(epic).toMatchObject({ iid: 1, labels: ['speed'], start_date: '2030-01-02', state: 'opened' })
  expect(await epics.all(group.id, { search: 'builds' } as never)).toMatchObject([{ id: epic.id }])
  expect(await epics.edit(group.id, 1, { title: 'Faster', stateEvent: 'close' } as never)).toMatchObject({
    title: 'Faster',
    state: 'closed',
  })
  expect(await epics.show(group.id, 1)).toMatchObject({ id: epic.id, subscribed: true })

  const issues = new EpicIssues(options)
  const link = await issues.assign(group.id, 1, first.id)
  const other = await issues.assign(group.id, 1, second.id)
  expect(link).toMatchObject({ epic: { id: epic.id }, issue: { id: first.id } })
  await issues.edit(group.id, 1, link.id, { moveBeforeId: other.id } as never)
  expect((await issues.all(group.id, 1)).map(({ id }) => id)).toEqual([second.id, first.id])
  await issues.remove(group.id, 1, link.id)
  expect(await issues.all(group.id, 1)).toMatchObject([{ id: second.id, epic: { id: epic.id } }])
  const listed = await new Issues(options).all({ groupId: group.id, epicId: epic.id } as never)
  expect(listed.map(({ id }: { id: number }) => id)).toEqual([second.id])

  const notes = new EpicNotes(options)
  const note = await notes.create(group.id, 1, 'Good')
  expect(await notes.edit(group.id, 1, note.id, { body: 'Better' })).toMatchObject({ body: 'Better' })
  expect((await notes.all(group.id, 1)).map(({ body }) => body)).toContain('Better')
  await notes.remove(group.id, 1, note.id)

  const discussions = new EpicDiscussions(options)
  const discussion = await discussions.create(group.id, 1, 'Why?')
  await discussions.addNote(group.id, 1, discussion.id as never, 'So')
  expect(await discussions.show(group.id, 1, discussion.id as never)).toMatchObject({
    notes: [{ body: 'Why?' }, { body: 'So' }],
  })

  const [added] = await new EpicLabelEvents(options).all(group.id, 1)
  expect(added).toMatchObject({ action: 'add', resource_type: 'Epic', resource_id: epic.id, label: { name: 'speed' } })
  expect(await new EpicLabelEvents(options).show(group.id, 1, added!.id)).toEqual(added)

  await world.root.post(`/groups/${group.id}/epics/1/notes`, { body: `@${ann.username}` })
  expect(await new TodoLists(options).all({ type: 'Epic' } as never)).toMatchObject([{ target: { id: epic.id } }])
  await new Epics({ host: world.origin, token: world.root.token! }).remove(group.id, 1)
  expect(await epics.all(group.id)).toEqual([])
})

test('@gitbeaker/rest creates, assigns, reorders and unassigns child epics, and makes a todo of an epic', async ({
  world,
}) => {
  const ann = await world.user()
  const group = await world.group({ visibility: 'private', members: [[ann, 'reporter']] })
  const options = { host: world.origin, token: ann.token! }
  const [epics, links] = [new Epics(options), new EpicLinks(options)]
  const [parent, other] = [await epics.create(group.id, 'Parent'), await epics.create(group.id, 'Other')]
  const child = await links.create(group.id, parent.iid, 'Child')
  expect(child).toMatchObject({ title: 'Child', parent_id: parent.id })
  expect(await links.assign(group.id, parent.iid, other.id)).toMatchObject({ id: other.id, parent_id: parent.id })
  const order = async () => (await links.all(group.id, parent.iid)).map(({ id }) => id)
  expect(await order()).toEqual([child.id, other.id])
  await links.reorder(group.id, parent.iid, child.id, { moveBeforeId: other.id } as never)
  expect(await order()).toEqual([other.id, child.id])
  expect(await links.unassign(group.id, parent.iid, other.id)).toMatchObject({ id: other.id, parent_id: null })
  expect(await order()).toEqual([child.id])
  expect(await epics.createTodo(group.id, parent.iid)).toMatchObject({ target_type: 'Epic', target: { id: parent.id } })
})
