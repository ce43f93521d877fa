import {
  MergeRequestAwardEmojis,
  MergeRequestDiscussions,
  MergeRequestNoteAwardEmojis,
  MergeRequestNotes,
  MergeRequests,
  TodoLists,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest comments on a merge request', async ({ world }) => {
  const dan = await world.user()
  const { project, iid, record } = await openMergeRequest(world, { members: [[dan, 'developer']] })
  const { id } = project
  const options = { host: world.origin, token: dan.token! }

  const notes = new MergeRequestNotes(options)
  const created = await notes.create(id, iid, `Look, @${dan.username} and @root`)
  expect(await notes.edit(id, iid, created.id, { body: 'Look again, @root' })).toMatchObject({ id: created.id })
  expect(await notes.show(id, iid, created.id)).toMatchObject({
    body: 'Look again, @root',
    noteable_type: 'MergeRequest',
  })
  expect(await notes.all(id, iid, { sort: 'asc', orderBy: 'updated_at' })).toHaveLength(1)

  const discussions = new MergeRequestDiscussions(options)
  const { base_sha, start_sha, head_sha } = record.diff_refs
  const discussion = await discussions.create(id, iid, 'Why?', {
    position: {
      baseSha: base_sha,
      startSha: start_sha,
      headSha: head_sha,
      positionType: 'text',
      newPath: 'b',
      newLine: '1',
    } as never,
  })
  expect(discussion.notes).toMatchObject([{ type: 'DiffNote', position: { new_path: 'b', new_line: 1 } }])
  const answered = await discussions.addNote(id, iid, discussion.id, 'Because')
  expect(await discussions.editNote(id, iid, discussion.id, answered.id, { body: 'So' } as never)).toMatchObject({
    body: 'So',
  })
  expect((await discussions.resolve(id, iid, discussion.id, true)).notes).toMatchObject([
    { resolved: true },
    { resolved: true },
  ])
  await discussions.removeNote(id, iid, discussion.id, answered.id)
  expect((await discussions.show(id, iid, discussion.id)) as unknown).toMatchObject({ notes: [{ body: 'Why?' }] })
  expect(await discussions.all(id, iid)).toHaveLength(3)

  const awards = new MergeRequestAwardEmojis(options)
  const given = await awards.award(id, iid, 'thumbsup')
  expect(await awards.all(id, iid)).toMatchObject([{ id: given.id, awardable_type: 'MergeRequest' }])
  await awards.remove(id, iid, given.id)
  const noteAwards = new MergeRequestNoteAwardEmojis(options)
  const noted = await noteAwards.award(id, iid, created.id, 'tada')
  expect(await noteAwards.show(id, iid, created.id, noted.id)).toMatchObject({ name: 'tada', awardable_type: 'Note' })

  const mergeRequests = new MergeRequests(options)
  expect(await mergeRequests.unsubscribe(id, iid)).toMatchObject({ subscribed: false })
  expect(await mergeRequests.subscribe(id, iid)).toMatchObject({ subscribed: true })
  expect(await mergeRequests.setTimeEstimate(id, iid, '3h')).toMatchObject({ human_time_estimate: '3h' })
  expect(await mergeRequests.addSpentTime(id, iid, '1h')).toMatchObject({ total_time_spent: 3600 })
  await mergeRequests.resetTimeEstimate(id, iid)
  await mergeRequests.resetSpentTime(id, iid)
  expect(await mergeRequests.showTimeStats(id, iid)).toMatchObject({ time_estimate: 0, total_time_spent: 0 })

  const todos = new TodoLists(options)
  const marked = await mergeRequests.createTodo(id, iid)
  expect(await todos.all({ action: 'marked' })).toMatchObject([{ id: marked.id, target: { iid } }])
  expect(await todos.done({ todoId: marked.id })).toMatchObject({ state: 'done' })
  await todos.done()
  expect(await todos.all()).toEqual([])
  const [named] = await new TodoLists({ host: world.origin, token: world.root.token! }).all({ projectId: id })
  expect(named).toMatchObject({ action_name: 'mentioned', author: { id: dan.id }, body: 'Look again, @root' })
})
