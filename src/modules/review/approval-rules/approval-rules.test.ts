import { describe, expect } from 'vitest'
import { answerDuring } from '../../../../test/during.ts'
import { auditOfNoun } from '../../../../test/tables/events.ts'
import { addApprovalRules, changeMergeRequest } from '../../../../test/tables/review.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { lockMergeRequest } from '../merge-requests/queries.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

/** A merge request of `ann` into a private project with two more developers. */
async function opened(world: World, attributes: Record<string, unknown> = {}) {
  const [ann, dan, eve] = [await world.user(), await world.user(), await world.user()]
  const made = await openMergeRequest(world, {
    visibility: 'private',
    members: [
      [ann, 'developer'],
      [dan, 'developer'],
      [eve, 'developer'],
    ],
    author: ann,
    ...attributes,
  })
  return { ...made, ann, dan, eve, rules: `/projects/${made.project.id}/approval_rules` }
}

const approvals = async (who: Client, at: string) => (await who.get(`${at}/approvals`)).json
const status = async (who: Client, at: string) => (await who.get(at)).json.detailed_merge_status
const named = ({ id }: Client) => expect.objectContaining({ id })

describe('approval rules of a project', () => {
  test('a merge waits until a user named by the rule has approved', async ({ world }) => {
    const { at, rules, dan, eve } = await opened(world)
    const made = await world.root.post(rules, { name: 'Security', approvals_required: 1, user_ids: [eve.id] })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'Security',
        rule_type: 'regular',
        report_type: null,
        approvals_required: 1,
        users: [named(eve)],
        eligible_approvers: [named(eve)],
        groups: [],
        contains_hidden_groups: false,
        protected_branches: [],
        applies_to_all_protected_branches: false,
      },
    })
    expect(await status(world.root, at)).toBe('not_approved')
    await dan.post(`${at}/approve`)
    expect(await approvals(dan, at)).toMatchObject({
      approved: false,
      approvals_required: 1,
      approvals_left: 1,
      approval_rules_left: [{ id: made.json.id, name: 'Security', rule_type: 'regular' }],
      suggested_approvers: [named(eve)],
    })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    await eve.post(`${at}/approve`)
    expect(await approvals(dan, at)).toMatchObject({ approved: true, approvals_left: 0, approval_rules_left: [] })
    expect((await world.root.put(`${at}/merge`)).json.state).toBe('merged')
  })

  test('members of a group of the rule count while they are members', async ({ world }) => {
    const { at, rules, eve } = await opened(world)
    const group = await world.group({ members: [[eve, 'developer']] })
    await world.root.post(rules, { name: 'Team', approvals_required: 1, group_ids: [group.id] })
    await eve.post(`${at}/approve`)
    expect((await approvals(eve, at)).approved).toBe(true)
    await world.root.delete(`/groups/${group.id}/members/${eve.id}`)
    expect((await approvals(eve, at)).approved).toBe(false)
  })

  test('a reporter named by a rule may approve; others may not', async ({ world }) => {
    const { at, rules, project } = await opened(world)
    const [rob, ron] = [await world.user(), await world.user()]
    for (const { id } of [rob, ron])
      await world.root.post(`/projects/${project.id}/members`, { user_id: id, access_level: 20 })
    await world.root.post(rules, { name: 'Docs', approvals_required: 1, usernames: [rob.username] })
    expect((await ron.post(`${at}/approve`)).status).toBe(403)
    expect((await rob.post(`${at}/approve`)).status).toBe(201)
  })

  test('a rule of protected branches applies to merge requests into these only', async ({ world }) => {
    const { at, rules, project } = await opened(world)
    const protect = async (name: string) =>
      (await world.root.post(`/projects/${project.id}/protected_branches`, { name })).json.id
    const stable = await protect('stable_*')
    const rule = await world.root.post(rules, { name: 'R', approvals_required: 1, protected_branch_ids: [stable] })
    expect(rule.json.protected_branches).toMatchObject([{ id: stable, name: 'stable_*' }])
    expect((await approvals(world.root, at)).approvals_required).toBe(0)
    // `_` is no wildcard.
    await world.root.put(at, { target_branch: 'stableX1' })
    expect((await approvals(world.root, at)).approvals_required).toBe(0)
    await world.root.put(at, { target_branch: 'stable_1' })
    expect((await approvals(world.root, at)).approvals_required).toBe(1)
    await world.root.put(`${rules}/${rule.json.id}`, {
      protected_branch_ids: [],
      applies_to_all_protected_branches: true,
    })
    expect((await approvals(world.root, at)).approvals_required).toBe(1)
    await world.root.put(at, { target_branch: 'next' })
    expect((await approvals(world.root, at)).approvals_required).toBe(0)
    expect(
      await world.root.post(rules, { name: 'S', approvals_required: 1, protected_branch_ids: [1e9] }),
    ).toMatchObject({
      status: 400,
      json: { message: { protected_branch_ids: ['must be protected branches of the project'] } },
    })
  })

  test('rules are listed, read, changed and deleted by maintainers, and read by reporters', async ({ world }) => {
    const { rules, dan, eve } = await opened(world)
    expect((await dan.post(rules, { name: 'x', approvals_required: 1 })).status).toBe(403)
    const { id } = (await world.root.post(rules, { name: 'One', approvals_required: 1, user_ids: [dan.id] })).json
    await world.root.post(rules, { name: 'Two', approvals_required: 0 })
    expect((await dan.get(rules)).json.map(({ name }: { name: string }) => name)).toEqual(['One', 'Two'])
    expect((await dan.get(`${rules}/${id}`)).json).toMatchObject({ id, name: 'One' })
    expect(await world.root.put(`${rules}/${id}`, { name: 'Two' })).toMatchObject({
      status: 400,
      json: { message: { name: ['has already been taken'] } },
    })
    expect((await world.root.put(`${rules}/${id}`, { approvals_required: 2, user_ids: [eve.id] })).json).toMatchObject({
      name: 'One',
      approvals_required: 2,
      users: [named(eve)],
    })
    expect((await world.root.delete(`${rules}/${id}`)).status).toBe(204)
    expect((await world.root.get(`${rules}/${id}`)).status).toBe(404)
    const audited = await auditOfNoun(world, { noun: 'approval_rule', target_id: id }, 'verb', 'target_details')
    expect(audited).toEqual(['add', 'change', 'remove'].map((verb) => ({ verb, target_details: 'One' })))
  })

  test('one rule of a project counts all approvals, and the greatest number counts', async ({ world }) => {
    const { at, rules, dan, project } = await opened(world, { approvals_before_merge: 1 })
    const any = { name: 'All', approvals_required: 2, rule_type: 'any_approver' }
    expect((await world.root.post(rules, { ...any, user_ids: [dan.id] })).json.message).toEqual({
      rule_type: ['any_approver cannot name users or groups'],
    })
    expect((await world.root.post(rules, any)).status).toBe(201)
    expect((await world.root.post(rules, { ...any, name: 'More' })).json.message).toEqual({
      rule_type: ['any-approver for the project already exists'],
    })
    expect((await approvals(dan, at)).approvals_required).toBe(2)
    await world.root.post(`/projects/${project.id}/approvals`, { approvals_before_merge: 3 })
    expect((await world.root.get(`/projects/${project.id}`)).json.approvals_before_merge).toBe(3)
    await dan.post(`${at}/approve`)
    expect((await dan.get(`${at}/approval_state`)).json.rules).toMatchObject([
      { name: 'All', approvals_required: 2, approved: false, approved_by: [named(dan)] },
      { id: null, name: 'All Members', rule_type: 'any_approver', approvals_required: 3, approved: false },
    ])
    expect(await approvals(dan, at)).toMatchObject({ approvals_required: 3, approvals_left: 2 })
  })

  test('groups that the caller cannot see are hidden, with their members', async ({ world }) => {
    const { rules, dan, eve } = await opened(world)
    const group = await world.group({ visibility: 'private', members: [[eve, 'developer']] })
    const { id } = (await world.root.post(rules, { name: 'Team', approvals_required: 1, group_ids: [group.id] })).json
    expect((await eve.get(`${rules}/${id}`)).json).toMatchObject({
      groups: [{ id: group.id, path: group.path, full_path: group.full_path }],
      eligible_approvers: expect.arrayContaining([named(eve)]),
      contains_hidden_groups: false,
    })
    expect((await dan.get(`${rules}/${id}`)).json).toMatchObject({
      groups: [],
      eligible_approvers: [],
      contains_hidden_groups: true,
    })
  })
})

describe('approval rules of a merge request', () => {
  test('a rule of a merge request applies besides those of the project', async ({ world }) => {
    const { at, rules, ann, dan, eve } = await opened(world)
    await world.root.post(rules, { name: 'Project', approvals_required: 1, user_ids: [dan.id] })
    const own = await ann.post(`${at}/approval_rules`, {
      name: 'Own',
      approvals_required: 1,
      rule_type: 'regular',
      user_ids: [eve.id],
    })
    expect(own).toMatchObject({ status: 201, json: { name: 'Own', users: [named(eve)], source_rule: null } })
    await dan.post(`${at}/approve`)
    expect((await ann.get(`${at}/approval_state`)).json).toMatchObject({
      approval_rules_overwritten: true,
      rules: [
        { name: 'Project', approved: true, approved_by: [named(dan)] },
        { name: 'Own', approved: false, approved_by: [] },
      ],
    })
    expect((await world.root.put(`${at}/merge`)).status).toBe(405)
    expect((await ann.get(`${at}/approval_rules`)).json).toMatchObject([{ id: own.json.id }])
    expect((await ann.delete(`${at}/approval_rules/${own.json.id}`)).status).toBe(204)
    expect((await approvals(ann, at)).approved).toBe(true)
  })

  test('it may replace a rule of the project, of which it requires at least the number', async ({ world }) => {
    const { at, rules, ann, dan, eve } = await opened(world)
    const source = (await world.root.post(rules, { name: 'P', approvals_required: 1, user_ids: [dan.id] })).json
    const wish = { name: 'P', approval_project_rule_id: source.id }
    expect((await ann.post(`${at}/approval_rules`, { ...wish, approvals_required: 0 })).json.message).toEqual({
      approvals_required: ['must be at least that of the rule of the project (1)'],
    })
    const own = (await ann.post(`${at}/approval_rules`, { ...wish, approvals_required: 2 })).json
    expect((await ann.get(`${at}/approval_rules/${own.id}`)).json).toEqual(own)
    expect(own).toMatchObject({ approvals_required: 2, users: [named(dan)], source_rule: { id: source.id } })
    expect((await approvals(ann, at)).approvals_required).toBe(2)
    await ann.put(`${at}/approval_rules/${own.id}`, { approvals_required: 1, user_ids: [eve.id] })
    await eve.post(`${at}/approve`)
    expect((await approvals(ann, at)).approved).toBe(true)
    // The project raises its number.
    await world.root.put(`${rules}/${source.id}`, { approvals_required: 2 })
    expect(await approvals(ann, at)).toMatchObject({ approved: false, approvals_required: 2 })
    await world.root.delete(`${rules}/${source.id}`)
    expect((await ann.get(`${at}/approval_rules`)).json).toEqual([])
  })

  test('an author who is no developer adds rules, but does not replace one of the project', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { at, id, project } = await openMergeRequest(world, { members: [[bob, 'developer']] })
    await changeMergeRequest(world, id, { author_id: ann.id })
    const rules = `/projects/${project.id}/approval_rules`
    const source = (await world.root.post(rules, { name: 'P', approvals_required: 1, user_ids: [bob.id] })).json
    const wish = { name: 'P', approvals_required: 1, approval_project_rule_id: source.id, user_ids: [ann.id] }
    expect((await ann.post(`${at}/approval_rules`, wish)).status).toBe(403)
    expect((await ann.post(`${at}/approval_rules`, { name: 'More', approvals_required: 1 })).status).toBe(201)
    const replaced = (await bob.post(`${at}/approval_rules`, wish)).json
    expect(replaced).toMatchObject({ source_rule: { id: source.id } })
    expect((await ann.put(`${at}/approval_rules/${replaced.id}`, { user_ids: [ann.id] })).status).toBe(403)
    expect((await ann.delete(`${at}/approval_rules/${replaced.id}`)).status).toBe(403)
    expect((await bob.delete(`${at}/approval_rules/${replaced.id}`)).status).toBe(204)
  })

  test('403 to the replacement of a rule by an author who was made a reporter while it waited', async ({ world }) => {
    const { ann, at, id, project, rules } = await opened(world)
    const source = (await world.root.post(rules, { name: 'P', approvals_required: 1 })).json
    const wish = { name: 'P', approvals_required: 1, approval_project_rule_id: source.id, user_ids: [ann.id] }
    const refused = await answerDuring(
      world,
      () => ann.post(`${at}/approval_rules`, wish),
      () => world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }),
      (tx) => lockMergeRequest(tx, id),
    )
    expect(refused.status).toBe(403)
  })

  test('a project can forbid rules and numbers of single merge requests, and ignores existing ones', async ({
    world,
  }) => {
    const { at, ann, eve, project } = await opened(world)
    const own = (await ann.post(`${at}/approval_rules`, { name: 'O', approvals_required: 1, user_ids: [eve.id] })).json
    await ann.post(`${at}/approvals`, { approvals_required: 2 })
    expect((await approvals(ann, at)).approvals_required).toBe(3)
    await world.root.post(`/projects/${project.id}/approvals`, { disable_overriding_approvers_per_merge_request: true })
    expect(await approvals(ann, at)).toMatchObject({ approved: true, approvals_required: 0, has_approval_rules: false })
    for (const refused of [
      ann.post(`${at}/approval_rules`, { name: 'x', approvals_required: 1 }),
      ann.put(`${at}/approval_rules/${own.id}`, { name: 'y' }),
      ann.delete(`${at}/approval_rules/${own.id}`),
      ann.post(`${at}/approvals`, { approvals_required: 3 }),
      ann.put(`${at}/approvers`, { approver_ids: [eve.id] }),
    ])
      expect((await refused).status).toBe(403)
  })

  test('a project has at most 100 rules', async ({ world }) => {
    const { rules, project } = await opened(world)
    await addApprovalRules(world, project.id, 100)
    expect((await world.root.post(rules, { name: unique('r'), approvals_required: 0 })).status).toBe(400)
  })
})
