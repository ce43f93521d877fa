import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

describe('GET /user_counts', () => {
  test('D3-COUNTS: open merge requests assigned to the caller, readable and not archived', async ({ world }) => {
    const ann = await world.user()
    const members: [Client, Level][] = [[ann, 'developer']]
    const count = async () => (await ann.get('/user_counts')).json
    expect(await count()).toEqual({ assigned_issues: 0, merge_requests: 0 })
    const [one, two, three] = [
      await openMergeRequest(world, { members, assignee_ids: [ann.id] }),
      await openMergeRequest(world, { members, assignee_ids: [ann.id] }),
      await openMergeRequest(world, { members, visibility: 'private', assignee_ids: [ann.id] }),
    ]
    await openMergeRequest(world, { members, author: ann })
    expect(await count()).toEqual({ assigned_issues: 0, merge_requests: 3 })
    await ann.put(one.at, { state_event: 'close' })
    expect(await count()).toEqual({ assigned_issues: 0, merge_requests: 2 })
    await world.archive(two.project as never)
    expect(await count()).toEqual({ assigned_issues: 0, merge_requests: 1 })
    await world.root.delete(`/projects/${three.project.id}/members/${ann.id}`)
    expect(await count()).toEqual({ assigned_issues: 0, merge_requests: 0 })
    expect((await world.anonymous.get('/user_counts')).status).toBe(401)
  })
})
