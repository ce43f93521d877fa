import { describe, expect } from 'vitest'
import { counting } from '../../../../test/counting.ts'
import { auditOfNoun, eventsOf } from '../../../../test/tables/events.ts'
import { test } from '../../../../test/world.ts'
import { removeGroup } from '../../groups/groups/jobs.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'
import { recordLostApprovers } from './deleted-approvers.ts'

describe('approval rules that name a user or group that is deleted', () => {
  test('require as many approvals as before, also when they name no one any more, and change with an event and an audit row', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const [ann, owner] = [await world.user(), await world.user()]
    const outer = await world.group({ visibility: 'public' })
    const named = await world.group({ visibility: 'public', parent: outer, members: [[ann, 'developer']] })
    const above = await world.group({ visibility: 'public', members: [[owner, 'owner']] })
    const project = await storedProject(world, { visibility: 'public', group: above, members: [[ann, 'developer']] })
    const { at } = await openMergeRequest(world, { project })
    const rules = [
      `/groups/${above.id}/approval_rules`,
      `/projects/${project.id}/approval_rules`,
      `${at}/approval_rules`,
    ]
    const ids: number[] = []
    for (const path of rules)
      for (const [who, body] of Object.entries({ user: { user_ids: [ann.id] }, group: { group_ids: [named.id] } })) {
        const made = await owner.post(path, { name: `By ${who}`, approvals_required: 1, ...body })
        expect(made.status, made.text).toBe(201)
        ids.push(made.json.id)
      }
    await owner.post(rules[1]!, { name: 'Other', approvals_required: 0, user_ids: [owner.id] })
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
    expect((await ann.post(`${at}/approve`)).status).toBe(201)
    expect((await owner.get(`${at}/approvals`)).json).toMatchObject({ approvals_left: 0 })

    const ctx = await world.app.open(null)
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    await removeUser.run({ userId: ann.id, hard: false }, ctx)
    expect((await world.root.delete(`/groups/${outer.id}`)).status).toBe(202)
    await removeGroup.run({ groupId: outer.id }, ctx)

    expect((await owner.get(`${at}/approvals`)).json).toMatchObject({ approvals_left: 6 })
    expect((await owner.put(`${at}/merge`)).status).toBe(405)
    const changed = await eventsOf(world, { kind: 'approval_rule_updated' }, 'actor_id', 'payload')
    const mine = changed.filter(({ payload }) => ids.includes(payload.approval_rule_id))
    expect(mine.map(({ actor_id, payload }) => [actor_id, payload.approval_rule_id])).toEqual(
      [0, 2, 4, 1, 3, 5].map((n) => [1, ids[n]]),
    )
    for (const entity of [{ group: above.id }, { project: project.id }])
      expect(await auditOfNoun(world, { noun: 'approval_rule', ...entity }, 'verb', 'target_details')).toEqual(
        expect.arrayContaining([
          { verb: 'change', target_details: 'By user' },
          { verb: 'change', target_details: 'By group' },
        ]),
      )
  })

  test('queue automatic merges with as many statements for nine merge requests as for two', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world, { visibility: 'public', members: [[ann, 'developer']] })
    await world.root.post(`/projects/${project.id}/approval_rules`, {
      name: 'Of all',
      approvals_required: 1,
      user_ids: [ann.id],
    })
    let opened = 0
    const statements = async (count: number) => {
      for (; opened < count; opened++) {
        const { at, head, branch } = await openMergeRequest(world, {
          project,
          branch: `topic-${opened}`,
          files: { [`${opened}`]: 'x\n' },
        })
        const rule = { name: 'Own', approvals_required: 1, user_ids: [ann.id] }
        expect((await world.root.post(`${at}/approval_rules`, rule)).status).toBe(201)
        await world.root.post(`/projects/${project.id}/statuses/${head}`, { state: 'running', ref: branch })
        expect((await ann.post(`${at}/approve`)).status).toBe(201)
        expect((await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
      }
      const { ctx, counts } = await counting(world)
      const event = { kind: 'user_deleted', actorId: 1, payload: { user_id: ann.id } } as const
      await ctx.transaction((tx) => recordLostApprovers(tx, event as never))
      const queued = await world.takeJobs(`merge_when_pipeline_succeeds:${project.id}:%`)
      expect(queued).toHaveLength(count)
      return counts.statements
    }
    const few = await statements(2)
    expect(few).toBeGreaterThan(2)
    expect(await statements(9)).toBe(few)
  })
})
