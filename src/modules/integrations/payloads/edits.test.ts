import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { hooked, ofKind, openTopic, time, withContent } from './testing.ts'

test('the payload of an edit says who edited, and when if title or description changed', async ({ world }) => {
  await using made = await hooked(world)
  const { receiver, project } = made
  await withContent(world, project)
  const ann = await world.user()
  const at = `/projects/${project.id}`
  await world.root.post(`${at}/members`, { user_id: ann.id, access_level: 40 })
  const mr = await openTopic(world, project, 'Edit me')
  const issue = (await world.root.post(`${at}/issues`, { title: 'Edit me' })).json
  for (const [kind, path] of [
    ['issue', `${at}/issues/${issue.iid}`],
    ['merge_request', `${at}/merge_requests/${mr.iid}`],
  ] as const) {
    for (const change of [{ labels: 'bug' }, { description: 'Text' }, { title: 'Edited' }]) {
      await ann.put(path, change)
      const [name] = Object.keys(change)
      const { json } = await receiver.request((one) => ofKind(kind)(one) && one.json.changes[name!] !== undefined)
      const isText = name !== 'labels'
      expect(json.object_attributes).toMatchObject({
        updated_by_id: ann.id,
        last_edited_by_id: isText ? ann.id : null,
        last_edited_at: isText ? time : null,
      })
    }
    await ann.put(path, { state_event: 'close' })
    const { json } = await receiver.request(ofKind(kind, 'close'))
    expect(json.object_attributes).toMatchObject({ updated_by_id: null, last_edited_by_id: null })
  }
})

test('a choice whether the source branch is deleted is a change of merge_params', async ({ world }) => {
  await using made = await hooked(world)
  const { receiver, project } = made
  await withContent(world, project)
  const { iid } = await openTopic(world, project, 'Keep the branch')
  await world.root.put(`/projects/${project.id}/merge_requests/${iid}`, { remove_source_branch: false })
  const { json } = await receiver.request(ofKind('merge_request', 'update'))
  const current = json.object_attributes.merge_params
  expect(current).toEqual({})
  expect(json.changes).toEqual({ merge_params: { previous: { force_remove_source_branch: '1' }, current } })
})

test('a duplicate names the issue that it repeats, until it is reopened or that issue is deleted', async ({
  world,
}) => {
  await using made = await hooked(world)
  const { receiver, project } = made
  const at = `/projects/${project.id}/issues`
  const [first, issue] = [
    (await world.root.post(at, { title: 'First' })).json,
    (await world.root.post(at, { title: 'Again' })).json,
  ]
  const duplicated = async () => {
    await world.root.post(`${at}/${issue.iid}/notes`, { body: `/duplicate #${first.iid}` })
    const marks = (one: any) => ofKind('issue', 'update')(one) && one.json.changes.duplicated_to_id !== undefined
    return (await receiver.request(marks)).json
  }
  expect(await duplicated()).toMatchObject({
    object_attributes: { id: issue.id, state: 'closed', duplicated_to_id: first.id, updated_by_id: world.root.id },
    changes: { duplicated_to_id: { previous: null, current: first.id } },
  })
  await world.root.put(`${at}/${issue.iid}`, { state_event: 'reopen' })
  const { json: reopened } = await receiver.request(ofKind('issue', 'reopen'))
  expect(reopened.object_attributes).toMatchObject({ state: 'opened', duplicated_to_id: null })
  await duplicated()
  expect((await world.root.delete(`${at}/${first.iid}`)).status).toBe(204)
  await world.root.put(`${at}/${issue.iid}`, { title: 'Alone' })
  const { json: alone } = await receiver.request((one) => ofKind('issue', 'update')(one) && 'title' in one.json.changes)
  expect(alone.object_attributes).toMatchObject({ state: 'closed', duplicated_to_id: null })
})
