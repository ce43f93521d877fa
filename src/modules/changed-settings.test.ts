import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow, waitingFor } from '../../test/tables/instance.ts'
import { type Answer, type Client, test, unique } from '../../test/world.ts'
import { lockGroup } from './groups/index.ts'
import { openMergeRequest } from './review/merge-requests/testing.ts'

describe('a setting of approvals counts that was changed while the request waited', () => {
  const fixed = { disable_overriding_approvers_per_merge_request: true }
  const kinds: Record<string, { setting: object; status: number; send: (ann: Client, at: string) => Promise<Answer> }> =
    {
      'the required number': {
        setting: fixed,
        status: 403,
        send: (ann, at) => ann.post(`${at}/approvals`, { approvals_required: 3 }),
      },
      'the approvers': {
        setting: fixed,
        status: 403,
        send: (ann, at) => ann.put(`${at}/approvers`, { approver_ids: [] }),
      },
      'a rule': {
        setting: fixed,
        status: 403,
        send: (ann, at) => ann.post(`${at}/approval_rules`, { name: 'rule', approvals_required: 1 }),
      },
      'an approval without a password': {
        setting: { require_password_to_approve: true },
        status: 401,
        send: (ann, at) => ann.post(`${at}/approve`),
      },
    }

  test.for(Object.keys(kinds))('%s', async (kind, { world }) => {
    const { setting, status, send } = kinds[kind]!
    const ann = await world.user()
    const { project, id, at } = await openMergeRequest(world, { members: [[ann, 'developer']] })
    const refused = await answerDuring(
      world,
      () => send(ann, at),
      () => world.root.post(`/projects/${project.id}/approvals`, setting),
      (tx) => lockRow(tx, 'merge_requests', id),
    )
    expect(refused.status).toBe(status)
  })
})

describe('a group takes nothing new from a member who may not add it any more when its turn comes', () => {
  const kinds = {
    'a new group': {
      closes: { subgroup_creation_level: 'owner' },
      add: (ann: Client, parent_id: number) => ann.post('/groups', { name: 'below', path: unique('below'), parent_id }),
      at: 'subgroups',
    },
    'a group that is moved': {
      closes: { subgroup_creation_level: 'owner' },
      async add(ann: Client, group_id: number) {
        const path = unique('moved')
        const { id } = (await ann.post('/groups', { name: path, path })).json
        return ann.post(`/groups/${id}/transfer`, { group_id })
      },
      at: 'subgroups',
    },
    'a project that is moved': {
      closes: { project_creation_level: 'noone' },
      async add(ann: Client, namespace: number) {
        const { id } = (await ann.post('/projects', { name: unique('moved') })).json
        return ann.put(`/projects/${id}/transfer`, { namespace })
      },
      at: 'projects',
    },
  } as const

  test.for(Object.keys(kinds) as (keyof typeof kinds)[])('%s', async (kind, { world }) => {
    const { closes, add, at } = kinds[kind]
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']], subgroup_creation_level: 'maintainer' })
    const sent = await world.db.transaction(async (tx) => {
      await lockGroup(tx, group.id)
      const closed = world.root.put(`/groups/${group.id}`, closes)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      const added = add(ann, group.id)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(2)
      return { closed, added }
    })
    expect((await sent.closed).status).toBe(200)
    expect([400, 403]).toContain((await sent.added).status)
    expect((await world.root.get(`/groups/${group.id}/${at}`)).json).toEqual([])
  })
})
