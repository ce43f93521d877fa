import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const named = ({ id }: Client) => ({ user: expect.objectContaining({ id }) })

describe('approvers of a project', () => {
  test('users set as approvers may approve, although reporters otherwise may not', async ({ world }) => {
    const [rob, ron] = [await world.user(), await world.user()]
    const { at, project } = await openMergeRequest(world, {
      visibility: 'private',
      members: [
        [rob, 'reporter'],
        [ron, 'reporter'],
      ],
    })
    const approvers = `/projects/${project.id}/approvers`
    const set = await world.root.put(approvers, { approver_ids: [rob.id], approver_group_ids: [] })
    expect(set).toMatchObject({ status: 200, json: { approvers: [named(rob)], approver_groups: [] } })
    expect((await world.root.get(`/projects/${project.id}/approval_rules`)).json).toMatchObject([
      { name: 'Default', approvals_required: 0, users: [{ id: rob.id }] },
    ])
    expect((await ron.post(`${at}/approve`)).status).toBe(403)
    expect((await rob.post(`${at}/approve`)).status).toBe(201)
    expect((await rob.put(approvers, { approver_ids: [ron.id] })).status).toBe(403)
  })

  test('approvers are replaced, and the call without any deletes their rule', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ members: [[bob, 'developer']] })
    const { project } = await openMergeRequest(world, { members: [[ann, 'developer']] })
    const set = async (json: object) => (await world.root.put(`/projects/${project.id}/approvers`, json)).json
    expect(await set({ approver_ids: [ann.id], approver_group_ids: [group.id] })).toMatchObject({
      approvers: [named(ann)],
      approver_groups: [{ group: { id: group.id } }],
    })
    expect(await set({ approver_ids: [] })).toMatchObject({ approvers: [], approver_groups: [{}] })
    expect(await set({ approver_group_ids: [] })).toMatchObject({ approvers: [], approver_groups: [] })
    expect((await world.root.get(`/projects/${project.id}/approval_rules`)).json).toEqual([])
    expect((await world.root.put(`/projects/${project.id}/approvers`)).status).toBe(400)
  })
})

test('equal and different calls at the same time are all answered, and leave one rule or none', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { project } = await openMergeRequest(world, {
    members: [
      [ann, 'developer'],
      [bob, 'developer'],
    ],
  })
  const set = (approver_ids: number[]) => world.root.put(`/projects/${project.id}/approvers`, { approver_ids })
  const rules = async () => (await world.root.get(`/projects/${project.id}/approval_rules`)).json
  const atOnce = async (...lists: number[][]) => (await Promise.all(lists.map(set))).map(({ status }) => status)
  for (let round = 0; round < 5; round++) {
    expect(await atOnce([ann.id], [ann.id], [bob.id])).toEqual([200, 200, 200])
    expect(await rules()).toMatchObject([{ name: 'Default', users: [{}] }])
    expect(await atOnce([], [], [])).toEqual([200, 200, 200])
    expect(await rules()).toEqual([])
  }
})

test('members of a group become approvers of a merge request, without its author', async ({ world }) => {
  const [ann, dan, stranger] = [await world.user(), await world.user(), await world.user()]
  const group = await world.group({}, ann)
  for (const { id } of [dan, stranger]) await ann.post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 })
  const { at } = await openMergeRequest(world, {
    visibility: 'private',
    members: [
      [ann, 'developer'],
      [dan, 'developer'],
    ],
    author: ann,
  })
  const asked = await ann.put(`${at}/approvers`, { approver_ids: [], approver_group_ids: [group.id] })
  expect(asked).toMatchObject({ status: 200, json: { approvers: [named(dan)] } })
  expect((await dan.get('/todos')).json).toMatchObject([{ action_name: 'approval_required' }])
})
