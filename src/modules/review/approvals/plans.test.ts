import { expect, test } from 'vitest'
import { addApprovalRule, changeMergeRequest } from '../../../../test/tables/review.ts'
import { World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

test('D1-TIER-OFFER: on a plan without approvals they are a 404 and merges do not wait for them', async () => {
  await using world = await World.start({ STITHY_PLAN: 'free' })
  const { at, id, head } = await openMergeRequest(world)
  // The state from another plan.
  await changeMergeRequest(world, id, { approvals_before_merge: 1 })
  const nothing = { status: 404, json: { error: '404 Not Found' } }
  expect(await world.root.get(`${at}/approvals`)).toMatchObject(nothing)
  expect(await (await world.user()).post(`${at}/approve`, { sha: head })).toMatchObject(nothing)
  await addApprovalRule(world, id)
  expect(await world.root.get(`${at}/approval_rules`)).toMatchObject(nothing)
  expect(await world.root.get(`${at}/approval_state`)).toMatchObject(nothing)
  expect(await world.root.put(`${at}/merge`)).toMatchObject({ status: 200, json: { state: 'merged' } })
})
