import { describe, expect } from 'vitest'
import { auditOfNoun, eventsOf } from '../../../../test/tables/events.ts'
import { expireTokens } from '../../../../test/tables/tokens.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { removeGroup } from '../../groups/groups/jobs.ts'
import { removeIdleBots } from '../../groups/resource-tokens/jobs.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { storedProject } from '../../repository/commits/testing.ts'

type Grantee = { readonly id: number; readonly grant: object; readonly remove: () => Promise<void> }

/** A maintainer of the project, and how the account is deleted. */
async function person(world: World, projectId: number): Promise<Grantee> {
  const { id } = await world.user()
  await world.root.post(`/projects/${projectId}/members`, { user_id: id, access_level: 40 })
  return {
    id,
    grant: { user_id: id },
    remove: async () => {
      expect((await world.root.delete(`/users/${id}`)).status).toBe(204)
      await removeUser.run({ userId: id, hard: false }, await world.app.open(null))
    },
  }
}

/** The bot of a token of the project, which is revoked. */
async function bot(world: World, projectId: number): Promise<Grantee> {
  const tokens = `/projects/${projectId}/access_tokens`
  const { json: token } = await world.root.post(tokens, { name: 'bot', scopes: ['api'], access_level: 40 })
  return {
    id: token.user_id,
    grant: { user_id: token.user_id },
    remove: async () => {
      expect((await world.root.delete(`${tokens}/${token.id}`)).status).toBe(204)
      await removeUser.run({ userId: token.user_id, hard: false }, await world.app.open(null))
    },
  }
}

/** A group with which the project is shared: with `inside` one that is deleted with the group above it. */
async function group(world: World, projectId: number, inside: boolean): Promise<Grantee> {
  await world.settings({ deletion_adjourned_period: 0 })
  const outer = await world.group()
  const { id } = inside ? await world.group({ parent: outer }) : outer
  const shared = await world.root.post(`/projects/${projectId}/share`, { group_id: id, group_access: 40 })
  expect(shared.status).toBe(201)
  return {
    id,
    grant: { group_id: id },
    remove: async () => {
      expect((await world.root.delete(`/groups/${outer.id}`)).status).toBe(202)
      await removeGroup.run({ groupId: outer.id }, await world.app.open(null))
    },
  }
}

const kinds = [
  { who: 'user', make: person },
  { who: 'revoked bot', make: bot },
  { who: 'group', make: (world: World, id: number) => group(world, id, false) },
  { who: 'group inside a', make: (world: World, id: number) => group(world, id, true) },
] as const

async function maintained(world: World): Promise<{ mia: Client; project: Awaited<ReturnType<typeof storedProject>> }> {
  const mia = await world.user()
  const project = await storedProject(world, { visibility: 'private', members: [[mia, 'maintainer']] })
  project.repository.commit({ 'a.txt': 'a\n' })
  return { mia, project }
}

describe('protections that name a user or group that is deleted', () => {
  test.for(kinds)(
    'remain closed to maintainers: only a deleted $who could push, merge and unprotect',
    async ({ make }, { world }) => {
      const { mia, project } = await maintained(world)
      const at = `/projects/${project.id}`
      const { grant, remove } = await make(world, project.id)
      const branch = `${at}/protected_branches/main`
      const made = await world.root.post(`${at}/protected_branches`, {
        name: 'main',
        allowed_to_push: [grant],
        allowed_to_merge: [grant],
        allowed_to_unprotect: [grant],
      })
      expect(made.status).toBe(201)
      const tag = await world.root.post(`${at}/protected_tags`, { name: 'v*', allowed_to_create: [grant] })
      expect(tag.status).toBe(201)
      const refused = async () => {
        const commit = {
          branch: 'main',
          commit_message: 'x',
          actions: [{ action: 'create', file_path: 'x', content: '' }],
        }
        expect((await mia.post(`${at}/repository/commits`, commit)).json.message).toContain('not allowed to push')
        expect((await mia.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })).json.message).toContain(
          'protected',
        )
        expect((await mia.send('PATCH', branch, { json: { allow_force_push: true } })).status).toBe(403)
        expect((await mia.delete(branch)).status).toBe(403)
      }
      await refused()
      await remove()
      await refused()
      expect((await mia.get(branch)).json).toMatchObject({
        push_access_levels: [],
        merge_access_levels: [],
        unprotect_access_levels: [{ access_level: 60, user_id: null, group_id: null }],
      })
      expect((await world.root.delete(branch)).status).toBe(204)
    },
  )

  test('keep the other users who may unprotect, and gain none, when one of them is deleted', async ({ world }) => {
    const { mia, project } = await maintained(world)
    const [first, second] = [await person(world, project.id), await person(world, project.id)]
    const rules = `/projects/${project.id}/protected_branches`
    await mia.post(rules, { name: 'main', allowed_to_unprotect: [first.grant, second.grant] })
    await first.remove()
    expect((await mia.get(`${rules}/main`)).json.unprotect_access_levels).toEqual([
      expect.objectContaining({ user_id: second.id }),
    ])
  })

  test('remain closed when all who may unprotect are deleted at the same time', async ({ world }) => {
    const { mia, project } = await maintained(world)
    const all = await Promise.all(Array.from({ length: 4 }, () => person(world, project.id)))
    const rules = `/projects/${project.id}/protected_branches`
    await mia.post(rules, { name: 'main', allowed_to_unprotect: all.map(({ grant }) => grant) })
    await Promise.all(all.map(({ remove }) => remove()))
    expect((await mia.delete(`${rules}/main`)).status).toBe(403)
  })

  test('are open to maintainers again once a caller removes all who may unprotect', async ({ world }) => {
    const { mia, project } = await maintained(world)
    const rules = `/projects/${project.id}/protected_branches`
    const { json } = await mia.post(rules, { name: 'main', allowed_to_unprotect: [{ user_id: mia.id }] })
    const [{ id }] = json.unprotect_access_levels
    const removed = await mia.send('PATCH', `${rules}/main`, {
      json: { allowed_to_unprotect: [{ id, _destroy: true }] },
    })
    expect(removed.status).toBe(200)
    expect((await mia.delete(`${rules}/main`)).status).toBe(204)
  })

  test.for(kinds)('change with an event and an audit row when a $who is deleted', async ({ make }, { world }) => {
    const { mia, project } = await maintained(world)
    const grantee = await make(world, project.id)
    const rules = `/projects/${project.id}/protected_branches`
    await mia.post(rules, { name: 'main', allowed_to_push: [grantee.grant], allowed_to_merge: [grantee.grant] })
    await mia.post(rules, { name: 'other' })
    await grantee.remove()
    const payload = { ref_kind: 'branch', name: 'main' }
    const events = await eventsOf(world, { project: project.id, kind: 'ref_protection_changed' }, 'actor_id', 'payload')
    expect(events).toEqual([{ actor_id: 1, payload }])
    const audited = { noun: 'protection', project: project.id }
    expect(await auditOfNoun(world, audited, 'verb', 'target_details')).toEqual([
      { verb: 'add', target_details: 'main' },
      { verb: 'add', target_details: 'other' },
      { verb: 'change', target_details: 'main' },
    ])
  })

  test('change with events when a bot named in them is removed because its token has expired', async ({ world }) => {
    const { mia, project } = await maintained(world)
    const grantee = await bot(world, project.id)
    const at = `/projects/${project.id}`
    await mia.post(`${at}/protected_branches`, { name: 'main', allowed_to_push: [grantee.grant] })
    // Rules of projects name people only.
    const { id: group } = await world.group()
    const rule = { name: 'Bot', approvals_required: 1, user_ids: [grantee.id] }
    const made = await world.root.post(`/groups/${group}/approval_rules`, rule)
    expect(made.json.users).toMatchObject([{ id: grantee.id }])
    await expireTokens(world, grantee.id, '2020-01-01')
    await removeIdleBots.run({}, await world.app.open(null))
    expect(await eventsOf(world, { project: project.id, kind: 'ref_protection_changed' }, 'actor_id')).toEqual([
      { actor_id: null },
    ])
    expect(await eventsOf(world, { group, kind: 'approval_rule_updated' }, 'actor_id')).toEqual([{ actor_id: null }])
  })
})
