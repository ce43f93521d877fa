import {
  IssueDiscussions,
  IssueLabelEvents,
  IssueMilestoneEvents,
  IssueNotes,
  IssueStateEvents,
  Issues,
  ProjectMilestones,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { type Client, test, type World } from '../world.ts'

async function stage(world: World) {
  const ann = await world.user()
  const members: [Client, 'maintainer'][] = [[ann, 'maintainer']]
  const [project, other] = [await storedProject(world, { members }), await storedProject(world, { members })]
  return { ann, project, other, options: { host: world.origin, token: ann.token! } }
}

test('@gitbeaker/rest creates, edits, discusses, moves and clones issues', async ({ world }) => {
  const { ann, project, other, options } = await stage(world)
  const issues = new Issues(options)
  const milestone = await new ProjectMilestones(options).create(project.id, '1.0')
  const { iid } = await issues.create(project.id, 'Broken', {
    labels: 'bug',
    milestoneId: milestone.id,
    dueDate: '2030-01-02',
  })
  expect(
    await issues.edit(project.id, iid, { title: 'Fixed', addLabels: 'done', assigneeIds: [ann.id] }),
  ).toMatchObject({
    title: 'Fixed',
    labels: ['bug', 'done'],
    assignees: [{ id: ann.id }],
    milestone: { id: milestone.id },
    due_date: '2030-01-02',
  })
  const note = await new IssueNotes(options).create(project.id, iid, 'A comment')
  const discussion = await new IssueDiscussions(options).create(project.id, iid, 'Why?')
  await new IssueDiscussions(options).addNote(project.id, iid, discussion.id, 'Because')
  expect(note).toMatchObject({ noteable_type: 'Issue', noteable_iid: iid })
  expect(await issues.unsubscribe(project.id, iid)).toMatchObject({ subscribed: false })
  expect(await issues.subscribe(project.id, iid)).toMatchObject({ subscribed: true })
  expect(await issues.allParticipants(project.id, iid)).toMatchObject([{ id: ann.id }])
  expect(await issues.addSpentTime(project.id, iid, '1h')).toMatchObject({ total_time_spent: 3600 })

  await issues.edit(project.id, iid, { stateEvent: 'close' })
  await issues.edit(project.id, iid, { stateEvent: 'reopen' })
  const states = await new IssueStateEvents(options).all(project.id, iid)
  expect(states).toMatchObject([{ state: 'closed' }, { state: 'reopened' }])
  expect(await new IssueStateEvents(options).show(project.id, iid, states[0]!.id)).toEqual(states[0])
  const [added] = await new IssueMilestoneEvents(options).all(project.id, iid)
  expect(added).toMatchObject({ action: 'add', milestone: { title: '1.0' } })
  expect(await new IssueMilestoneEvents(options).show(project.id, iid, added!.id)).toEqual(added)
  expect(await new IssueLabelEvents(options).all(project.id, iid)).toHaveLength(2)

  const cloned = await issues.clone(project.id, iid, other.id, { withNotes: true })
  expect(cloned).toMatchObject({ project_id: other.id, title: 'Fixed', state: 'opened', user_notes_count: 3 })
  const moved = await issues.move(project.id, iid, other.id)
  expect(moved).toMatchObject({ project_id: other.id, iid: 2, author: { id: ann.id } })
  expect(await issues.show(iid, { projectId: project.id })).toMatchObject({ state: 'closed', moved_to_id: moved.id })
  await expect(issues.remove(other.id, cloned.iid)).rejects.toThrow('Forbidden')
  await new Issues({ ...options, token: world.root.token! }).remove(other.id, cloned.iid)
})
