import { expect, test } from 'vitest'
import { World } from '../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

test.for([
  ['starter', 405],
  ['free', 200],
] as const)(
  'a merge request that somebody has to approve first is not merged on the plan %s: %i',
  async ([plan, status]) => {
    await using world = await World.start({ STITHY_PLAN: plan })
    const { at, id } = await openMergeRequest(world)
    await world.rows('update merge_requests set approvals_before_merge = 1 where id = $1', [id])
    expect((await world.root.put(`${at}/merge`)).status).toBe(status)
    await world.rows('insert into approvals (merge_request_id, user_id) values ($1, 1)', [id])
    expect((await world.root.get(at)).json.state === 'merged').toBe(status === 200)
    if (status === 405) expect((await world.root.put(`${at}/merge`)).status).toBe(200)
  },
)
