import { describe, expect } from 'vitest'
import { auditOfNoun } from '../../../../test/tables/events.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const named = ({ id }: Client) => expect.objectContaining({ id })

/** A merge request into the protected branch of a project in a subgroup of a group with an owner. */
async function opened(world: World) {
  const [owner, eve] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[owner, 'owner']] })
  const child = await world.group({ parent: group })
  const project = await storedProject(world, { group: child, visibility: 'private', members: [[eve, 'developer']] })
  const made = await openMergeRequest(world, { project })
  await owner.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
  const required = async () => (await owner.get(`${made.at}/approvals`)).json.approvals_required
  return { ...made, owner, eve, group, child, required, rules: `/groups/${group.id}/approval_rules` }
}

describe('approval rules of a group', () => {
  test('a merge into a protected branch of a project below waits for approvals by the rule', async ({ world }) => {
    const { at, rules, owner, eve } = await opened(world)
    const made = await owner.post(rules, { name: 'Everywhere', approvals_required: 1, user_ids: [eve.id] })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'Everywhere',
        rule_type: 'regular',
        approvals_required: 1,
        users: [named(eve)],
        eligible_approvers: [named(eve)],
        protected_branches: [],
        applies_to_all_protected_branches: true,
      },
    })
    expect((await owner.get(at)).json.detailed_merge_status).toBe('not_approved')
    expect((await owner.get(`${at}/approval_state`)).json).toMatchObject({
      approval_rules_overwritten: false,
      rules: [{ id: made.json.id, name: 'Everywhere', approved: false, eligible_approvers: [named(eve)] }],
    })
    expect((await owner.put(`${at}/merge`)).status).toBe(405)
    await eve.post(`${at}/approve`)
    expect((await owner.put(`${at}/merge`)).json.state).toBe('merged')
  })

  test('a rule does not apply to other branches, nor to projects outside the group', async ({ world }) => {
    const { at, rules, owner, project, required } = await opened(world)
    const elsewhere = await openMergeRequest(world)
    await world.root.post(`/projects/${elsewhere.project.id}/protected_branches`, { name: 'main' })
    await owner.post(rules, { name: 'Everywhere', approvals_required: 2 })
    expect(await required()).toBe(2)
    expect((await world.root.get(`${elsewhere.at}/approvals`)).json.approvals_required).toBe(0)
    await owner.delete(`/projects/${project.id}/protected_branches/main`)
    expect((await owner.get(`${at}/approvals`)).json.approvals_required).toBe(0)
  })

  test('projects and merge requests cannot replace or change a rule of a group', async ({ world }) => {
    const { at, rules, owner, project, required } = await opened(world)
    const { id } = (await owner.post(rules, { name: 'Everywhere', approvals_required: 1 })).json
    const own = { name: 'Own', approvals_required: 1, approval_project_rule_id: id }
    expect((await owner.post(`${at}/approval_rules`, own)).status).toBe(404)
    expect((await owner.put(`/projects/${project.id}/approval_rules/${id}`, { approvals_required: 0 })).status).toBe(
      404,
    )
    expect((await owner.get(`/projects/${project.id}/approval_rules`)).json).toEqual([])
    expect(await required()).toBe(1)
  })

  test('a project that leaves the group leaves its rules', async ({ world }) => {
    const { rules, owner, project, required } = await opened(world)
    await owner.post(rules, { name: 'Everywhere', approvals_required: 1 })
    const other = await world.group({ members: [[owner, 'owner']] })
    await owner.put(`/projects/${project.id}/transfer`, { namespace: other.id })
    expect(await required()).toBe(0)
  })

  test('owners list, read, change and delete rules; other members cannot', async ({ world }) => {
    const { rules, owner, eve, group, required } = await opened(world)
    const maintainer = await world.user()
    await owner.post(`/groups/${group.id}/members`, { user_id: maintainer.id, access_level: 40 })
    expect((await maintainer.post(rules, { name: 'x', approvals_required: 1 })).status).toBe(403)
    expect((await maintainer.get(rules)).status).toBe(403)
    const any = { rule_type: 'any_approver', approvals_required: 1 }
    const { id } = (await owner.post(rules, { name: 'Any', ...any })).json
    expect(await owner.post(rules, { name: 'More', ...any })).toMatchObject({
      status: 400,
      json: { message: { rule_type: ['any-approver for the group already exists'] } },
    })
    expect(await owner.post(rules, { name: 'Any', approvals_required: 1, user_ids: [eve.id] })).toMatchObject({
      status: 400,
      json: { message: { name: ['has already been taken'] } },
    })
    expect((await owner.get(rules)).json).toMatchObject([{ id, name: 'Any' }])
    expect((await owner.get(`${rules}/${id}`)).json).toMatchObject({ id, approvals_required: 1 })
    expect((await owner.put(`${rules}/${id}`, { name: 'Two', approvals_required: 2 })).json).toMatchObject({
      id,
      name: 'Two',
      approvals_required: 2,
    })
    expect(await required()).toBe(2)
    expect((await owner.delete(`${rules}/${id}`)).status).toBe(204)
    expect(await required()).toBe(0)
    const audited = await auditOfNoun(world, { noun: 'approval_rule', target_id: id }, 'verb', 'target_details')
    expect(audited).toEqual([
      { verb: 'add', target_details: 'Any' },
      { verb: 'change', target_details: 'Two' },
      { verb: 'remove', target_details: 'Two' },
    ])
  })
})
