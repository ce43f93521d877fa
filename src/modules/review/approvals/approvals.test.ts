import { describe, expect } from 'vitest'
import { systemNotesOf, todosAbout } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'

/** A merge request of `ann`, with a developer and a reporter of its project. */
async function opened(world: World, attributes: Record<string, unknown> = {}) {
  const [ann, dan, rob] = [await world.user(), await world.user(), await world.user()]
  const mergeRequest = await openMergeRequest(world, {
    visibility: 'private',
    members: [
      [ann, 'developer'],
      [dan, 'developer'],
      [rob, 'reporter'],
    ],
    author: ann,
    ...attributes,
  })
  return { ...mergeRequest, ann, dan, rob }
}

const named = ({ id, username }: Client) => ({ user: expect.objectContaining({ id, username }) })
const systemNotes = (world: World, id: number) => systemNotesOf(world, id, 'author_id', 'body')

describe('approvals', () => {
  test('developers other than the author approve a merge request and revoke their approval', async ({ world }) => {
    const { at, id, ann, dan } = await opened(world, { approvals_before_merge: 1 })
    const before = await dan.get(`${at}/approvals`)
    expect(before.status).toBe(200)
    expect(before.json).toEqual({
      id,
      iid: 1,
      project_id: expect.any(Number),
      title: 'Merge topic',
      description: null,
      state: 'opened',
      created_at: expect.any(String),
      updated_at: expect.any(String),
      merge_status: expect.any(String),
      approved: false,
      approvals_required: 1,
      approvals_left: 1,
      approved_by: [],
      approvers: [],
      suggested_approvers: [],
      approval_rules_left: [],
      has_approval_rules: false,
      require_password_to_approve: false,
      multiple_approval_rules_available: true,
      merge_request_approvers_available: true,
      user_has_approved: false,
      user_can_approve: true,
    })
    expect((await ann.get(`${at}/approvals`)).json.user_can_approve).toBe(false)
    expect((await ann.post(`${at}/approve`)).status).toBe(403)
    const updated = async () => Date.parse((await ann.get(at)).json.updated_at)
    const made = await updated()
    const approved = { approved: true, approvals_left: 0, approved_by: [named(dan)] }
    expect(await dan.post(`${at}/approve`)).toMatchObject({
      status: 201,
      json: { ...approved, user_has_approved: true, user_can_approve: false },
    })
    const after = await updated()
    expect(after).toBeGreaterThan(made)
    expect((await dan.post(`${at}/approve`)).status).toBe(304)
    expect(await updated()).toBe(after)
    expect((await ann.get(`${at}/approvals`)).json).toMatchObject({ ...approved, user_has_approved: false })
    expect(await dan.post(`${at}/unapprove`)).toMatchObject({
      status: 201,
      json: { approved: false, approvals_left: 1, approved_by: [], user_can_approve: true },
    })
    expect(await updated()).toBeGreaterThan(after)
    expect(await dan.post(`${at}/unapprove`)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect(await systemNotes(world, id)).toEqual([
      { author_id: dan.id, body: 'approved this merge request' },
      { author_id: dan.id, body: 'unapproved this merge request' },
    ])
    const events = await eventsOf(world, { actor: dan.id, kind: '%approved' }, 'kind', 'payload')
    expect(events).toMatchObject([
      { kind: 'merge_request_approved', payload: { merge_request_id: id } },
      { kind: 'merge_request_unapproved', payload: { merge_request_id: id } },
    ])
  })

  test('409 for an approval of a sha that is not the head', async ({ world }) => {
    const { at, head, dan } = await opened(world)
    expect(await dan.post(`${at}/approve`, { sha: '1'.repeat(40) })).toMatchObject({
      status: 409,
      json: { message: `SHA does not match HEAD of source branch: ${head}` },
    })
    expect((await dan.get(`${at}/approvals`)).json.approved_by).toEqual([])
    expect((await dan.post(`${at}/approve`, { sha: head })).status).toBe(201)
  })

  test('405 for an approval of a closed merge request', async ({ world }) => {
    const { at, dan } = await opened(world)
    await dan.put(at, { state_event: 'close' })
    expect((await dan.get(`${at}/approvals`)).json.user_can_approve).toBe(false)
    expect(await dan.post(`${at}/approve`)).toMatchObject({
      status: 405,
      json: { message: '405 Method Not Allowed' },
    })
  })

  test('the approval of a closed merge request is revoked; 405 for that of a merged one, who approved it is a record', async ({
    world,
  }) => {
    const { at, dan } = await opened(world)
    await dan.post(`${at}/approve`)
    await dan.put(at, { state_event: 'close' })
    expect(await dan.post(`${at}/unapprove`)).toMatchObject({ status: 201, json: { approved_by: [] } })
    await dan.put(at, { state_event: 'reopen' })
    await dan.post(`${at}/approve`)
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
    expect(await dan.post(`${at}/unapprove`)).toMatchObject({
      status: 405,
      json: { message: '405 Method Not Allowed' },
    })
    const note = await dan.post(`${at}/notes`, { body: '/unapprove' })
    expect(note.status, note.text).toBeLessThan(300)
    expect((await dan.get(`${at}/approvals`)).json.approved_by).toEqual([named(dan)])
  })

  test('as many approvals as can be required are added up with those of a rule', async ({ world }) => {
    const most = 2 ** 31 - 1
    const { at, project, dan } = await opened(world, { approvals_before_merge: most })
    const rule = { name: 'R', approvals_required: 1, user_ids: [dan.id] }
    expect((await world.root.post(`/projects/${project.id}/approval_rules`, rule)).status).toBe(201)
    expect(await dan.get(`${at}/approvals`)).toMatchObject({
      status: 200,
      json: { approvals_required: most + 1, approvals_left: most + 1 },
    })
    expect(await dan.post(`${at}/approve`)).toMatchObject({ status: 201, json: { approvals_left: most - 1 } })
  })

  test('one of several concurrent approvals of a user succeeds', async ({ world }) => {
    const { at, dan } = await opened(world)
    const answers = await Promise.all([1, 2, 3].map(() => dan.post(`${at}/approve`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 304, 304])
  })

  test('a designated approver may approve and gets a todo; other reporters may not', async ({ world }) => {
    const { at, id, ann, dan, rob } = await opened(world)
    const stranger = await world.user()
    expect((await rob.post(`${at}/approve`)).status).toBe(403)
    expect((await rob.put(`${at}/approvers`, { approver_ids: [rob.id] })).status).toBe(403)
    const asked = await ann.put(`${at}/approvers`, { approver_ids: [rob.id, stranger.id, ann.id, dan.id] })
    expect(asked).toMatchObject({ status: 200, json: { approvers: [named(dan), named(rob)] } })
    expect(asked.json.suggested_approvers).toHaveLength(2)
    const todos = () => todosAbout(world, id, 'user_id', 'action', 'state')
    const todo = (who: Client, state = 'pending') => ({ user_id: who.id, action: 'approval_required', state })
    expect(await todos()).toEqual([todo(dan), todo(rob)])
    expect((await rob.get(`${at}/approvals`)).json.user_can_approve).toBe(true)
    expect((await rob.post(`${at}/approve`)).json).toMatchObject({
      approved_by: [named(rob)],
      suggested_approvers: [{ id: dan.id }],
    })
    expect(await todos()).toEqual([todo(dan), todo(rob, 'done')])
    expect((await ann.put(`${at}/approvers`, { approver_ids: [] })).json.approvers).toEqual([])
    expect((await rob.post(`${at}/unapprove`)).status).toBe(201)
    expect((await rob.post(`${at}/approve`)).status).toBe(403)
  })

  test('an author from outside names no other approvers than developers', async ({ world }) => {
    const [eve, friend, dan] = [await world.user(), await world.user(), await world.user()]
    const project = await storedProject(world, { visibility: 'public', members: [[dan, 'developer']] })
    project.repository.commit({ a: 'a\n' })
    await world.root.put(`/projects/${project.id}`, { approvals_before_merge: 1 })
    const source = await forkOf(world, project, eve)
    const { at } = await openMergeRequest(world, { project, source, author: eve })
    const path = unique('friends')
    const friends = (await eve.post('/groups', { name: path, path })).json
    await eve.post(`/groups/${friends.id}/members`, { user_id: friend.id, access_level: 30 })
    const people = { approver_ids: [friend.id, dan.id], approver_group_ids: [friends.id] }
    expect(await eve.put(`${at}/approvers`, people)).toMatchObject({ status: 200, json: { approvers: [named(dan)] } })
    const rule = { name: 'Friends', approvals_required: 0, user_ids: [friend.id, dan.id], group_ids: [friends.id] }
    const made = await eve.post(`${at}/approval_rules`, rule)
    expect(made).toMatchObject({ status: 201, json: { users: [{ id: dan.id }], groups: [] } })
    const changed = await eve.put(`${at}/approval_rules/${made.json.id}`, { usernames: [friend.username] })
    expect(changed).toMatchObject({ status: 200, json: { users: [], groups: [] } })
    expect((await friend.post(`${at}/approve`)).status).toBe(403)
    expect((await dan.get(`${at}/approvals`)).json).toMatchObject({ approved: false })
    // Developers name whom they like.
    expect((await dan.put(`${at}/approvers`, { approver_ids: [friend.id] })).json.approvers).toEqual([named(friend)])
    expect((await friend.post(`${at}/approve`)).json.approved).toBe(true)
  })

  test('required approvals can be raised for a merge request, not below its project', async ({ world }) => {
    const { at, project, ann, rob } = await opened(world)
    expect(await ann.post(`${at}/approvals`, { approvals_required: 2 })).toMatchObject({
      status: 201,
      json: { approvals_required: 2, approvals_left: 2, approved: false },
    })
    expect((await rob.post(`${at}/approvals`, { approvals_required: 0 })).status).toBe(403)
    await world.root.put(`/projects/${project.id}`, { approvals_before_merge: 3 })
    expect((await ann.get(`${at}/approvals`)).json.approvals_required).toBe(3)
    expect(await ann.post(`${at}/approvals`, { approvals_required: 2 })).toMatchObject({
      status: 400,
      json: { message: { approvals_before_merge: ['must be at least that of the target project (3)'] } },
    })
    expect((await ann.post(`${at}/approvals`, { approvals_required: 4 })).json.approvals_required).toBe(4)
    expect((await ann.post(`${at}/approvals`, { approvals_required: -1 })).status).toBe(400)
  })

  test('405 for a merge without the required approvals', async ({ world }) => {
    const { at, dan } = await opened(world, { approvals_before_merge: 1 })
    expect(await world.root.put(`${at}/merge`)).toMatchObject({
      status: 405,
      json: { message: '405 Method Not Allowed' },
    })
    await dan.post(`${at}/approve`)
    expect(await world.root.put(`${at}/merge`)).toMatchObject({ status: 200, json: { state: 'merged' } })
  })

  test.for([
    ['is blocked', ({ root }: World, dan: Client) => root.post(`/users/${dan.id}/block`)],
    [
      'is no longer a member',
      ({ root }: World, dan: Client, id: number) => root.delete(`/projects/${id}/members/${dan.id}`),
    ],
    [
      'has become a reporter',
      ({ root }: World, dan: Client, id: number) => root.put(`/projects/${id}/members/${dan.id}`, { access_level: 20 }),
    ],
  ] as const)('an approval does not count while its user %s', async ([, demote], { world }) => {
    const { at, project, dan } = await opened(world, { approvals_before_merge: 1, visibility: 'public' })
    expect((await dan.post(`${at}/approve`)).json.approved).toBe(true)
    await demote(world, dan, project.id)
    expect((await world.root.get(`${at}/approvals`)).json).toMatchObject({
      approved: false,
      approvals_left: 1,
      approved_by: [named(dan)],
    })
    expect((await world.root.get(at)).json.detailed_merge_status).toBe('not_approved')
    expect((await world.root.get(`${at}/approval_state`)).json.rules).toMatchObject([
      { approved: false, approved_by: [] },
    ])
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    await world.root.post(`/users/${dan.id}/unblock`)
    await world.root.delete(`/projects/${project.id}/members/${dan.id}`)
    await world.root.post(`/projects/${project.id}/members`, { user_id: dan.id, access_level: 30 })
    expect((await world.root.get(`${at}/approvals`)).json.approved).toBe(true)
    expect(await world.root.put(`${at}/merge`)).toMatchObject({ status: 200, json: { state: 'merged' } })
  })

  test('the approval of a designated reporter does not count once they cannot read the merge request, or are not designated', async ({
    world,
  }) => {
    const { at, project, ann, rob } = await opened(world, { approvals_before_merge: 1 })
    const approved = async () => (await ann.get(`${at}/approvals`)).json.approved
    await ann.put(`${at}/approvers`, { approver_ids: [rob.id] })
    await rob.post(`${at}/approve`)
    expect(await approved()).toBe(true)
    await world.root.delete(`/projects/${project.id}/members/${rob.id}`)
    expect(await approved()).toBe(false)
    await world.root.post(`/projects/${project.id}/members`, { user_id: rob.id, access_level: 20 })
    expect(await approved()).toBe(true)
    await ann.put(`${at}/approvers`, { approver_ids: [] })
    expect(await approved()).toBe(false)
  })
})
