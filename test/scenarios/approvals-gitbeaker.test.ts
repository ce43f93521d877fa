import { MergeRequestApprovals, MergeRequests } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest configures approval rules, approves and merges', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { project, iid } = await openMergeRequest(world, {
    visibility: 'private',
    members: [
      [ann, 'maintainer'],
      [bob, 'developer'],
    ],
  })
  const as = (token: string | undefined) => new MergeRequestApprovals({ host: world.origin, token: token! })
  const [anns, bobs] = [as(ann.token), as(bob.token)]

  expect(await anns.editConfiguration(project.id, { resetApprovalsOnPush: false })).toMatchObject({
    reset_approvals_on_push: false,
    merge_requests_author_approval: false,
  })
  const rule = await anns.createApprovalRule(project.id, 'Security', 1, { userIds: [bob.id] })
  expect(rule).toMatchObject({ name: 'Security', rule_type: 'regular', approvals_required: 1 })
  expect(await anns.editApprovalRule(project.id, rule.id, 'Safety', 1)).toMatchObject({ name: 'Safety' })
  expect(await anns.allApprovalRules(project.id)).toMatchObject([{ id: rule.id, users: [{ id: bob.id }] }])

  const own = await anns.createApprovalRule(project.id, 'Own', 1, { mergerequestIId: iid, userIds: [ann.id] })
  expect(await anns.allApprovalRules(project.id, { mergerequestIId: iid })).toMatchObject([{ id: own.id }])
  expect(await bobs.approve(project.id, iid)).toMatchObject({ approvals_required: 2, approvals_left: 1 })
  expect(await bobs.showApprovalState(project.id, iid)).toMatchObject({
    approval_rules_overwritten: true,
    rules: [
      { name: 'Safety', approved: true, approved_by: [{ id: bob.id }] },
      { name: 'Own', approved: false },
    ],
  })
  await anns.removeApprovalRule(project.id, own.id, { mergerequestIId: iid })
  expect(await bobs.showConfiguration(project.id, { mergerequestIId: iid })).toMatchObject({
    approved: true,
    user_has_approved: true,
  })
  const merged = await new MergeRequests({ host: world.origin, token: ann.token! }).accept(project.id, iid)
  expect(merged).toMatchObject({ state: 'merged' })
})
