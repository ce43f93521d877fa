import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { projectRow } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { loadProject } from '../../projects/index.ts'
import { hostileRefs, storedProject } from '../../repository/commits/testing.ts'
import { deleteGrants, deleteProtectedRef, insertGrants } from '../protected-refs/queries.ts'
import { changeProtectedRef, protectRef } from '../protected-refs/service.ts'

const rulesOf = (id: number) => `/projects/${id}/protected_branches`
const at = (id: number, name: string) => `${rulesOf(id)}/${encodeURIComponent(name)}`

/** A project and its maintainer, who is not an administrator. */
async function maintained(world: World, others: readonly [Client, Level][] = []) {
  const mia = await world.user()
  const project = await world.project({ members: [[mia, 'maintainer'], ...others] })
  return { mia, project, id: project.id }
}

const level = (access_level: number, access_level_description: string) => ({
  id: expect.any(Number),
  access_level,
  access_level_description,
  user_id: null,
  group_id: null,
})

describe('protected branches', () => {
  test('maintainers push, merge and unprotect by default', async ({ world }) => {
    const { mia, id } = await maintained(world)
    const made = await mia.post(rulesOf(id), { name: '*-stable' })
    const record = {
      id: expect.any(Number),
      name: '*-stable',
      push_access_levels: [level(40, 'Maintainers')],
      merge_access_levels: [level(40, 'Maintainers')],
      unprotect_access_levels: [level(40, 'Maintainers')],
      allow_force_push: false,
      code_owner_approval_required: false,
    }
    expect(made).toMatchObject({ status: 201, json: record })
    expect(await mia.get(at(id, '*-stable'))).toMatchObject({ status: 200, json: made.json })
    expect((await mia.get(rulesOf(id))).json).toEqual([made.json])
    expect(await mia.delete(at(id, '*-stable'))).toMatchObject({ status: 204 })
    expect(await mia.get(at(id, '*-stable'))).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect(await mia.delete(at(id, '*-stable'))).toMatchObject({ status: 404 })
    const events = await eventsOf(world, { project: id }, 'kind', 'actor_id', 'payload')
    expect(events.filter(({ kind }) => kind.startsWith('ref_'))).toEqual([
      { kind: 'ref_protected', actor_id: mia.id, payload: { ref_kind: 'branch', name: '*-stable' } },
      { kind: 'ref_unprotected', actor_id: mia.id, payload: { ref_kind: 'branch', name: '*-stable' } },
    ])
  })

  test('the record of a new or changed rule is returned, even if another request removes the rule at once', async ({
    world,
  }) => {
    const { mia, id } = await maintained(world)
    const ctx = await contextFor(world, mia)
    const project = (await loadProject(String(id), ctx))!
    const overtaken: Ctx = {
      ...ctx,
      async transaction(work) {
        const result = await ctx.transaction(work)
        expect((await mia.delete(at(id, 'main'))).status).toBe(204)
        return result
      },
    }
    const rule = { kind: 'branch', name: 'main' } as const
    expect(await protectRef(overtaken, project, rule, {})).toMatchObject({ name: 'main', allow_force_push: false })
    const other = await protectRef(ctx, project, rule, {})
    expect(await changeProtectedRef(overtaken, project, other, { allowForcePush: true }, {})).toMatchObject({
      id: other.id,
      allow_force_push: true,
    })
  })

  test('access levels of protected branches have descriptions', async ({ world }) => {
    const { mia, id } = await maintained(world)
    const input = { name: 'main', push_access_level: 0, merge_access_level: 30, unprotect_access_level: 60 }
    expect((await mia.post(rulesOf(id), input)).json).toMatchObject({
      push_access_levels: [level(0, 'No one')],
      merge_access_levels: [level(30, 'Developers + Maintainers')],
      unprotect_access_levels: [level(60, 'Instance admins')],
    })
  })

  test('users and groups can be named beside levels, each once', async ({ world }) => {
    const ann = await world.user()
    const { mia, id, project } = await maintained(world, [[ann, 'developer']])
    const [{ namespace_id: groupId }] = (await projectRow(world, id, 'namespace_id')) as [{ namespace_id: number }]
    const made = await mia.post(rulesOf(id), {
      name: 'main',
      push_access_level: 40,
      allowed_to_push: [{ user_id: ann.id }, { user_id: ann.id }, { group_id: groupId }, { access_level: 40 }],
      allowed_to_merge: [{ access_level: 30 }],
      code_owner_approval_required: true,
      allow_force_push: true,
    })
    expect(made.json).toMatchObject({
      push_access_levels: [
        level(40, 'Maintainers'),
        { access_level: null, user_id: ann.id, group_id: null, access_level_description: `Name of ${ann.username}` },
        {
          access_level: null,
          user_id: null,
          group_id: groupId,
          access_level_description: project.full_path.split('/')[0],
        },
      ],
      merge_access_levels: [level(30, 'Developers + Maintainers')],
      allow_force_push: true,
      code_owner_approval_required: true,
    })
    // The same as a form.
    const body = `name=form&allowed_to_push[][user_id]=${ann.id}&allowed_to_push[][access_level]=40`
    const form = await mia.send('POST', rulesOf(id), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
    expect(form.status).toBe(400)
    const two = body.replace('&allowed_to_push[][access_level]=40', '&allowed_to_merge[][access_level]=30')
    expect(
      (
        await mia.send('POST', rulesOf(id), {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: two,
        })
      ).json,
    ).toMatchObject({ push_access_levels: [{ user_id: ann.id }], merge_access_levels: [{ access_level: 30 }] })
  })

  test.for([
    [{}, 400, { error: 'name is missing' }],
    [{ name: '' }, 400, { error: 'name is empty' }],
    [{ name: 'x', push_access_level: 50 }, 400, { error: 'push_access_level does not have a valid value' }],
    [{ name: 'x', merge_access_level: 'no' }, 400, { error: 'merge_access_level is invalid' }],
    [
      { name: 'x', allowed_to_push: [{}] },
      400,
      { error: expect.stringMatching(/are missing, exactly one parameter must be provided/) },
    ],
    [
      { name: 'x', allowed_to_push: [{ access_level: 20 }] },
      400,
      { error: 'allowed_to_push[0][access_level] does not have a valid value' },
    ],
    [{ name: 'x', unprotect_access_level: 0 }, 400, { error: 'unprotect_access_level does not have a valid value' }],
    [
      { name: 'x', allowed_to_unprotect: [{ access_level: 0 }] },
      400,
      { error: 'allowed_to_unprotect[0][access_level] does not have a valid value' },
    ],
    [{ name: 'x', allowed_to_push: [{ user_id: 999999 }] }, 422, { error: 'User is not a member of the project' }],
    [
      { name: 'x', allowed_to_merge: [{ group_id: 999999 }] },
      422,
      { error: 'Group does not have access to the project' },
    ],
    [{ name: 'a..b' }, 400, { message: { name: ['is invalid'] } }],
  ] as const)('protecting a branch with %j is a %i', async ([input, status, json], { world }) => {
    const { mia, id } = await maintained(world)
    expect(await mia.post(rulesOf(id), input)).toMatchObject({ status, json })
    expect((await mia.get(rulesOf(id))).json).toEqual([])
  })

  test('422 for a protected branch that names users or groups without access', async ({ world }) => {
    const { mia, id } = await maintained(world)
    const stranger = await world.user()
    const group = await world.group({ members: [[mia, 'owner']] })
    expect((await mia.post(rulesOf(id), { name: 'x', allowed_to_push: [{ user_id: stranger.id }] })).status).toBe(422)
    expect((await mia.post(rulesOf(id), { name: 'x', allowed_to_push: [{ group_id: group.id }] })).status).toBe(422)
  })

  test('one of several concurrent protections of the same branch succeeds', async ({ world }) => {
    const { mia, id } = await maintained(world)
    const all = await Promise.all(Array.from({ length: 8 }, () => mia.post(rulesOf(id), { name: 'main' })))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(all.find(({ status }) => status !== 201)).toMatchObject({
      status: 409,
      json: { message: "Protected branch 'main' already exists" },
    })
  })

  test('protected branches are searched and paged', async ({ world }) => {
    const { mia, id } = await maintained(world)
    for (const name of ['a', 'b-1', 'b-2', 'c%']) await mia.post(rulesOf(id), { name })
    const names = async (query: string) =>
      (await mia.get(rulesOf(id) + query)).json.map(({ name }: { name: string }) => name)
    expect(await names('?search=B-')).toEqual(['b-1', 'b-2'])
    expect(await names('?search=%25')).toEqual(['c%'])
    expect(await names('?per_page=3&page=2')).toEqual(['c%'])
    expect((await mia.head(`${rulesOf(id)}?per_page=3`)).headers['x-total']).toBe('4')
  })

  test('the access levels of a protected branch stay when those of another are changed or named there', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: 'a' })
    for (const name of ['x', 'y']) repository.git('update-ref', `refs/heads/${name}`, 'main')
    const [x, y] = [
      (await world.root.post(rulesOf(id), { name: 'x' })).json,
      (await world.root.post(rulesOf(id), { name: 'y' })).json,
    ]
    const foreign = { allowed_to_push: [{ id: y.push_access_levels[0].id, _destroy: true }] }
    expect((await world.root.send('PATCH', at(id, 'x'), { json: foreign })).status).toBe(400)
    const own = { allowed_to_push: [{ id: x.push_access_levels[0].id, _destroy: true }, { access_level: 30 }] }
    expect((await world.root.send('PATCH', at(id, 'x'), { json: own })).status).toBe(200)
    const flags = { developers_can_push: true, developers_can_merge: true }
    expect((await world.root.put(`/projects/${id}/repository/branches/x/protect`, flags)).status).toBe(200)
    expect((await world.root.get(at(id, 'y'))).json).toEqual(y)
  })

  test('PATCH of a protected branch adds, changes and removes access levels', async ({ world }) => {
    const ann = await world.user()
    const { mia, id } = await maintained(world, [[ann, 'developer']])
    const { push_access_levels, merge_access_levels } = (await mia.post(rulesOf(id), { name: 'r/*' })).json
    const patch = (json: object) => mia.send('PATCH', at(id, 'r/*'), { json })
    expect(
      await patch({
        allowed_to_push: [{ user_id: ann.id }, { id: push_access_levels[0].id, _destroy: true }],
        allowed_to_merge: [{ id: merge_access_levels[0].id, access_level: 30 }],
        code_owner_approval_required: true,
      }),
    ).toMatchObject({
      status: 200,
      json: {
        push_access_levels: [{ user_id: ann.id, access_level: null }],
        merge_access_levels: [level(30, 'Developers + Maintainers')],
        unprotect_access_levels: [level(40, 'Maintainers')],
        code_owner_approval_required: true,
        allow_force_push: false,
      },
    })
    // Ids of entries of another action are invalid here.
    expect((await patch({ allowed_to_merge: [{ id: push_access_levels[0].id, _destroy: true }] })).status).toBe(400)
    expect((await patch({ allowed_to_push: [{}] })).status).toBe(400)
    expect((await patch({ allowed_to_push: [{ user_id: 999999 }] })).status).toBe(422)
    expect((await patch({})).json).toMatchObject({ code_owner_approval_required: true })
    expect((await mia.send('PATCH', at(id, 'other'), { json: {} })).status).toBe(404)
  })

  test('a protected branch can restrict who may unprotect or change it', async ({ world }) => {
    const ann = await world.user()
    const { mia, id } = await maintained(world, [[ann, 'maintainer']])
    await mia.post(rulesOf(id), { name: 'main', allowed_to_unprotect: [{ user_id: ann.id }] })
    expect((await mia.delete(at(id, 'main'))).status).toBe(403)
    // Others cannot override it with another rule either.
    expect((await mia.send('PATCH', at(id, 'main'), { json: { allow_force_push: true } })).status).toBe(403)
    expect((await ann.send('PATCH', at(id, 'main'), { json: { allow_force_push: true } })).status).toBe(200)
    expect((await ann.delete(at(id, 'main'))).status).toBe(204)
  })

  test('PATCH of a protected branch with the level 0 for unprotecting is a 400', async ({ world }) => {
    const { mia, id } = await maintained(world)
    await mia.post(rulesOf(id), { name: 'main' })
    const json = { allowed_to_unprotect: [{ access_level: 0 }] }
    expect(await mia.send('PATCH', at(id, 'main'), { json })).toMatchObject({
      status: 400,
      json: { error: 'allowed_to_unprotect[0][access_level] does not have a valid value' },
    })
  })

  test('a branch that an earlier release let no one unprotect is changed and unprotected by administrators only', async ({
    world,
  }) => {
    const { mia, id } = await maintained(world)
    const rule = (await mia.post(rulesOf(id), { name: 'main' })).json
    await world.db.transaction(async (tx) => {
      await deleteGrants(tx, rule.id, 'unprotect')
      await insertGrants(tx, rule.id, 'unprotect', [{ access_level: 0, user_id: null, group_id: null }])
    })
    const patch = (who: Client) => who.send('PATCH', at(id, 'main'), { json: { allow_force_push: true } })
    expect((await patch(mia)).status).toBe(403)
    expect((await mia.delete(at(id, 'main'))).status).toBe(403)
    expect(await patch(world.root)).toMatchObject({
      status: 200,
      json: { allow_force_push: true, unprotect_access_levels: [level(0, 'No one')] },
    })
    expect((await world.root.delete(at(id, 'main'))).status).toBe(204)
  })

  test('one of eight concurrent removals of a protected branch succeeds', async ({ world }) => {
    const { mia, id } = await maintained(world)
    await mia.post(rulesOf(id), { name: 'main' })
    const all = await Promise.all(Array.from({ length: 8 }, () => mia.delete(at(id, 'main'))))
    expect(all.map(({ status }) => status).toSorted()).toEqual([204, ...Array(7).fill(404)])
  })

  test('412 when a protected branch changed after If-Unmodified-Since', async ({ world }) => {
    const { mia, id } = await maintained(world)
    await mia.post(rulesOf(id), { name: 'main' })
    const past = { headers: { 'if-unmodified-since': 'Wed, 21 Oct 2015 07:28:00 GMT' } }
    expect((await mia.delete(at(id, 'main'), past)).status).toBe(412)
    expect((await mia.delete(at(id, 'main'), { headers: { 'if-unmodified-since': 'nonsense' } })).status).toBe(204)
  })

  test.for([
    { who: 'anonymous', level: undefined, status: 401 },
    { who: 'a stranger', level: 'none', status: 404 },
    { who: 'a guest', level: 'guest', status: 403 },
    { who: 'a reporter', level: 'reporter', status: 403 },
    { who: 'a developer', level: 'developer', status: 403 },
    { who: 'a maintainer', level: 'maintainer', status: 200 },
  ] as const)('protected branches are for maintainers: $who gets $status', async ({ level, status }, { world }) => {
    const ann = level === undefined ? world.anonymous : await world.user()
    const project = await world.project({ members: level === undefined || level === 'none' ? [] : [[ann, level]] })
    await world.root.post(rulesOf(project.id), { name: 'main' })
    const good = (success: number) => (status === 200 ? success : status)
    expect((await ann.get(rulesOf(project.id))).status).toBe(status)
    expect((await ann.get(at(project.id, 'main'))).status).toBe(status)
    expect((await ann.post(rulesOf(project.id), { name: 'x' })).status).toBe(good(201))
    expect((await ann.send('PATCH', at(project.id, 'main'), { json: {} })).status).toBe(good(200))
    expect((await ann.delete(at(project.id, 'main'))).status).toBe(good(204))
  })

  test('branches of an archived project can be protected', async ({ world }) => {
    const { mia, project, id } = await maintained(world)
    await world.archive(project)
    expect((await mia.post(rulesOf(id), { name: 'main' })).status).toBe(201)
  })

  test.for(hostileRefs.map((name) => [name.slice(0, 40), name] as const))(
    'the protected branch name %j causes no 500',
    async ([, name], { world }) => {
      const { mia, id } = await maintained(world)
      const made = await mia.post(rulesOf(id), { name })
      expect([201, 400]).toContain(made.status)
      for (const got of [
        await mia.get(at(id, name)),
        await mia.get(`${rulesOf(id)}?search=${encodeURIComponent(name)}`),
        await mia.delete(at(id, name)),
      ])
        expect(got.status).toBeLessThan(500)
      expect((await mia.get(rulesOf(id))).json).toEqual([])
    },
  )
})

describe('deprecated endpoints to protect branches', () => {
  test('the deprecated endpoints protect and unprotect an existing branch', async ({ world }) => {
    const mia = await world.user()
    const { id, repository } = await storedProject(world, { members: [[mia, 'maintainer']] })
    repository.commit({ a: '1' }, { branch: 'f/x' })
    const branch = `/projects/${id}/repository/branches/f%2Fx`
    expect(await mia.put(`${branch}/protect`, { developers_can_merge: true })).toMatchObject({
      status: 200,
      json: { protected: true, developers_can_push: false, developers_can_merge: true, can_push: true },
    })
    // Absent parameters keep their values.
    expect((await mia.put(`${branch}/protect`, { developers_can_push: true })).json).toMatchObject({
      developers_can_push: true,
      developers_can_merge: true,
    })
    expect((await mia.put(`${branch}/protect`, { developers_can_push: false })).json).toMatchObject({
      developers_can_push: false,
      developers_can_merge: true,
    })
    expect((await mia.get(at(id, 'f/x'))).json).toMatchObject({
      push_access_levels: [level(40, 'Maintainers')],
      merge_access_levels: [level(30, 'Developers + Maintainers')],
    })
    for (let twice = 0; twice < 2; twice++)
      expect(await mia.put(`${branch}/unprotect`)).toMatchObject({ status: 200, json: { protected: false } })
    expect(await mia.put(`/projects/${id}/repository/branches/none/protect`)).toMatchObject({
      status: 404,
      json: { message: '404 Branch Not Found' },
    })
  })

  test('concurrent requests to protect a branch succeed as they do one after the other', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const protect = () =>
      world.root.put(`/projects/${id}/repository/branches/main/protect`, { developers_can_push: true })
    const answers = await Promise.all(Array.from({ length: 6 }, protect))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect((await world.root.get(at(id, 'main'))).json.push_access_levels).toMatchObject([{ access_level: 30 }])
  })

  test('a branch whose rule is deleted during a request to protect it is protected by a new one', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const rule = (await world.root.post(rulesOf(id), { name: 'main' })).json
    const [answer] = await world.db.transaction(async (tx) => {
      await deleteProtectedRef(tx, rule.id)
      const sent = world.root.put(`/projects/${id}/repository/branches/main/protect`, { developers_can_push: true })
      await world.waitsForLock()
      return [sent]
    })
    expect(await answer).toMatchObject({ status: 200, json: { protected: true, developers_can_push: true } })
    expect((await world.root.get(rulesOf(id))).json).toMatchObject([{ push_access_levels: [{ access_level: 30 }] }])
  })
})
