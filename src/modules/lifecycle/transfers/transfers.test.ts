import { describe, expect } from 'vitest'
import { auditOf, eventsOf } from '../../../../test/tables/events.ts'
import { routesTo } from '../../../../test/tables/projects.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type TestGroup, test, unique } from '../../../../test/world.ts'

const failed = (text: string) => ({
  status: 400,
  json: { message: `Failed to transfer project {:new_namespace=>["${text}"]}` },
})

const movedConcurrently = { status: 409, json: { message: 'The project was moved meanwhile' } }

describe('PUT /projects/:id/transfer', () => {
  test('a transferred project is found under both paths, with its code', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true, description: 'Hello' })
    const target = await world.group({ parent: await world.group() })
    const answer = await world.root.put(`/projects/${project.id}/transfer`, { namespace: target.full_path })
    const fullPath = `${target.full_path}/${project.path}`
    expect(answer).toMatchObject({
      status: 200,
      json: { id: project.id, path_with_namespace: fullPath, namespace: { id: target.id } },
    })
    for (const path of [fullPath, project.full_path]) {
      const file = `/projects/${encodeURIComponent(path)}/repository/files/README.md/raw?ref=master`
      expect((await world.root.get(file)).text).toContain('Hello')
    }
    const audited = await auditOf(world, { type: 'Project', id: project.id, event: 'project_transferred' }, 'facts')
    expect(audited).toEqual([{ facts: { old_full_path: project.full_path, full_path: fullPath } }])
  })

  test('members of the old group lose access to a transferred project, new ones gain it', async ({ world }) => {
    const [old, fresh] = [await world.user(), await world.user()]
    const source = await world.group({ members: [[old, 'developer']] })
    const target = await world.group({ members: [[fresh, 'developer']] })
    const project = await world.project({ group: source })
    await world.root.put(`/projects/${project.id}/transfer`, { namespace: target.id })
    expect((await old.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await fresh.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test('a transferred project is at most as visible as its new group', async ({ world }) => {
    const ann = await world.user()
    const open = await world.group({ visibility: 'public' })
    const project = await world.project({ group: open, visibility: 'public' })
    const move = (namespace: number | string) => world.root.put(`/projects/${project.id}/transfer`, { namespace })
    const closed = await world.group({ visibility: 'internal' })
    expect((await move(closed.id)).json.visibility).toBe('internal')
    expect((await move(ann.username)).json).toMatchObject({ visibility: 'internal', owner: { id: ann.id } })
    expect(await eventsOf(world, { project: project.id, kind: 'project_updated' }, 'payload')).toEqual([
      { payload: { changed: ['visibility'], from_visibility: 'public', visibility: 'internal' } },
    ])
    const owned = { project: project.id, payload: { user_id: ann.id } }
    const levels = [{ payload: { user_id: ann.id, access_level: 40, expires_at: null } }]
    expect(await eventsOf(world, { ...owned, kind: 'member_%' }, 'payload')).toEqual(levels)
    await move(closed.id)
    await move(ann.username)
    expect(await eventsOf(world, { ...owned, kind: 'member_%' }, 'payload')).toEqual(levels)
    expect((await world.root.get(`/projects/${project.id}/members/${ann.id}`)).json.access_level).toBe(40)
  })

  test('each refused project transfer has its message and moves nothing', async ({ world }) => {
    const ann = await world.user()
    const source = await world.group({ members: [[ann, 'owner']] })
    const [mine, readOnly, hidden, open] = [
      await world.group({ members: [[ann, 'maintainer']] }),
      await world.group({ members: [[ann, 'reporter']] }),
      await world.group(),
      await world.group({ visibility: 'public' }),
    ]
    const project = await world.project({ group: source })
    const move = (namespace: unknown) => ann.put(`/projects/${project.id}/transfer`, { namespace })
    expect(await move(source.id)).toMatchObject(failed('Project is already in this namespace.'))
    for (const { id } of [readOnly, open])
      expect(await move(id)).toMatchObject(failed('Transfer failed, please contact an admin.'))
    for (const unknown of [hidden.id, 'no/such', 999_999])
      expect(await move(unknown)).toMatchObject({ status: 404, json: { message: '404 Namespace Not Found' } })
    expect(await ann.put(`/projects/${project.id}/transfer`)).toMatchObject({
      status: 400,
      json: { error: 'namespace is missing' },
    })
    const exists = failed('Project with same name or path in target namespace already exists')
    await world.root.post('/projects', { name: unique('other'), path: project.path, namespace_id: mine.id })
    expect(await move(mine.id)).toMatchObject(exists)
    expect((await ann.get(`/projects/${project.id}`)).json.path_with_namespace).toBe(project.full_path)
  })

  test('400 for a transfer when the project limit of the user is reached', async ({ world }) => {
    const ann = await world.user()
    await changeUser(world, ann.id, { projects_limit: 0 })
    const project = await world.project({ group: await world.group({ members: [[ann, 'owner']] }) })
    expect(await ann.put(`/projects/${project.id}/transfer`, { namespace: ann.username })).toMatchObject(
      failed('Transfer failed, please contact an admin.'),
    )
  })

  test.for([
    ['none', 404],
    ['maintainer', 403],
    ['owner', 200],
  ] as const)('transferring a project is for owners: %s gets %i', async ([who, status], { world }) => {
    const ann = await world.user()
    const target = await world.group({ members: [[ann, 'owner']] })
    const source = await world.group({ members: who === 'none' ? [] : [[ann, who]] })
    const project = await world.project({ group: source })
    expect((await ann.put(`/projects/${project.id}/transfer`, { namespace: target.id })).status).toBe(status)
    expect((await world.anonymous.put(`/projects/${project.id}/transfer`, { namespace: target.id })).status).toBe(401)
  })

  test('a project transferred concurrently to two groups is completely in one of them', async ({ world }) => {
    const project = await world.project()
    const targets = [await world.group(), await world.group()]
    const answers = await Promise.all(
      targets.map(({ id }) => world.root.put(`/projects/${project.id}/transfer`, { namespace: id })),
    )
    for (const { status, json } of answers) if (status !== 200) expect({ status, json }).toEqual(movedConcurrently)
    const { namespace, path_with_namespace: path } = (await world.root.get(`/projects/${project.id}`)).json
    expect(path).toBe(`${namespace.full_path}/${project.path}`)
    const routes = await routesTo(world, project.id)
    expect(routes).toEqual([{ path_key: path.toLowerCase() }])
  })

  test('an edit during a transfer succeeds or is a conflict, and the project remains', async ({ world }) => {
    const project = await world.project()
    const targets = [await world.group(), await world.group(), await world.group()]
    for (const { id } of targets) {
      const [moved, edited] = await Promise.all([
        world.root.put(`/projects/${project.id}/transfer`, { namespace: id }),
        world.root.put(`/projects/${project.id}`, { path: unique('edited') }),
      ])
      expect(moved.status).toBe(200)
      if (edited.status !== 200) expect({ status: edited.status, json: edited.json }).toEqual(movedConcurrently)
    }
  })
})

describe('POST /groups/:id/projects/:project_id', () => {
  test('D2-GROUP-TRANSFER-ADMIN: administrators move a project into a group; 403 for others', async ({ world }) => {
    const ann = await world.user()
    const target = await world.group({ members: [[ann, 'owner']] })
    const project = await world.project({ group: await world.group({ members: [[ann, 'owner']] }) })
    const call = (id: number | string) => `/groups/${target.id}/projects/${encodeURIComponent(id)}`
    expect((await ann.post(call(project.id))).status).toBe(403)
    expect((await world.anonymous.post(call(project.id))).status).toBe(401)
    const answer = await world.root.post(call(project.full_path))
    expect(answer).toMatchObject({ status: 201, json: { id: target.id, projects: [{ id: project.id }] } })
    expect(await world.root.post(call(project.id))).toMatchObject(failed('Project is already in this namespace.'))
    expect(await world.root.post(call(999_999))).toMatchObject({
      status: 404,
      json: { message: '404 Project Not Found' },
    })
  })
})

describe('POST /groups/:id/transfer', () => {
  test('what a transfer makes less visible has the events of a change of visibility: the group, groups and projects below, and forks', async ({
    world,
  }) => {
    const ann = await world.user()
    const moved = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: moved, visibility: 'internal' })
    const closed = await world.group({ parent: moved, visibility: 'private' })
    const [project, same] = [
      await world.project({ group: moved, visibility: 'public', initialize_with_readme: true }),
      await world.project({ group: closed, visibility: 'private' }),
    ]
    const fork = (await ann.post(`/projects/${project.id}/fork`)).json
    expect(fork.visibility).toBe('public')
    const target = await world.group({ visibility: 'private' })
    expect((await world.root.put(`/projects/${same.id}/transfer`, { namespace: inner.full_path })).status).toBe(200)
    expect((await world.root.post(`/groups/${moved.id}/transfer`, { group_id: target.id })).status).toBe(201)
    const changesOf = (filter: { project: number } | { group: number }) =>
      eventsOf(world, { ...filter, kind: '%_updated' }, 'actor_id', 'payload')
    const lowered = (from_visibility: string) => [
      { actor_id: 1, payload: { changed: ['visibility'], from_visibility, visibility: 'private' } },
    ]
    expect(await changesOf({ group: moved.id })).toEqual(lowered('public'))
    expect(await changesOf({ group: inner.id })).toEqual(lowered('internal'))
    expect(await changesOf({ group: closed.id })).toEqual([])
    expect(await changesOf({ project: project.id })).toEqual(lowered('public'))
    expect(await changesOf({ project: fork.id })).toEqual(lowered('public'))
    expect(await changesOf({ project: same.id })).toEqual([])
    expect((await world.root.get(`/projects/${fork.id}`)).json.visibility).toBe('private')
    const audited = await auditOf(world, { type: 'Project', id: project.id, event: 'project_updated' }, 'author_id')
    expect(audited).toEqual([{ author_id: 1 }])
  })

  test('a transferred group moves paths, access and visibility of its tree; old paths redirect', async ({ world }) => {
    const [old, fresh] = [await world.user(), await world.user()]
    const source = await world.group({ visibility: 'public', members: [[old, 'reporter']] })
    const moved = await world.group({ parent: source, visibility: 'public' })
    const inner = await world.group({ parent: moved, visibility: 'public' })
    const project = await world.project({ group: inner, visibility: 'public' })
    const target = await world.group({ members: [[fresh, 'reporter']] })
    const answer = await world.root.post(`/groups/${moved.id}/transfer`, { group_id: target.id })
    const fullPath = `${target.full_path}/${moved.path}`
    expect(answer).toMatchObject({
      status: 201,
      json: { parent_id: target.id, full_path: fullPath, visibility: 'private' },
    })
    const project1 = (await fresh.get(`/projects/${project.id}`)).json
    expect(project1).toMatchObject({
      path_with_namespace: `${fullPath}/${inner.path}/${project.path}`,
      visibility: 'private',
    })
    expect((await fresh.get(`/groups/${inner.id}`)).json.full_name).toBe(
      `${target.path} / ${moved.path} / ${inner.path}`,
    )
    expect((await old.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await fresh.get(`/projects/${encodeURIComponent(project.full_path)}`)).json.id).toBe(project.id)
    const below = (id: number) => world.root.get(`/groups/${id}/descendant_groups?order_by=id`)
    expect((await below(target.id)).json.map(({ id }: TestGroup) => id)).toEqual([moved.id, inner.id])
    expect((await below(source.id)).json).toEqual([])
  })

  test('a subgroup is transferred to the top level', async ({ world }) => {
    const ann = await world.user()
    const source = await world.group()
    const moved = await world.group({ parent: source, members: [[ann, 'owner']] })
    const answer = await ann.post(`/groups/${moved.id}/transfer`)
    expect(answer).toMatchObject({ status: 201, json: { parent_id: null, full_path: moved.path } })
    expect(await ann.post(`/groups/${moved.id}/transfer`)).toMatchObject({
      status: 400,
      json: { message: 'Transfer failed: Group is already a root group.' },
    })
  })

  test('each refused group transfer has its message and moves nothing', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'owner']] })
    const moved = await world.group({ parent: top })
    const inner = await world.group({ parent: moved })
    const [foreign, hidden] = [await world.group({ members: [[ann, 'developer']] }), await world.group()]
    const crowded = await world.group({ members: [[ann, 'owner']] })
    await world.root.post('/projects', { name: moved.path, path: moved.path, namespace_id: crowded.id })
    const refused = async (group_id: number, text: string) =>
      expect(await ann.post(`/groups/${moved.id}/transfer`, { group_id })).toMatchObject({
        status: 400,
        json: { message: `Transfer failed: ${text}` },
      })
    await refused(top.id, 'Group is already associated to the parent group.')
    await refused(inner.id, 'Cannot transfer group to one of its subgroup.')
    await refused(moved.id, 'Cannot transfer group to one of its subgroup.')
    await refused(foreign.id, "You don't have enough permissions.")
    await refused(crowded.id, 'The parent group already has a subgroup or a project with the same path.')
    expect((await ann.post(`/groups/${moved.id}/transfer`, { group_id: hidden.id })).status).toBe(404)
    expect((await ann.get(`/groups/${inner.id}`)).json.full_path).toBe(inner.full_path)
  })

  test('400 for a transfer of a group whose path is reserved at its new place', async ({ world }) => {
    const top = await world.group()
    const inTop = (path: string, parent?: number) =>
      world.root.post('/groups', { name: path, path, ...(parent !== undefined && { parent_id: parent }) })
    const inner = (await inTop('api', top.id)).json
    expect(await world.root.post(`/groups/${inner.id}/transfer`)).toMatchObject({
      status: 400,
      json: { message: 'Transfer failed: Path api is a reserved name.' },
    })
    expect((await world.root.get(`/groups/${inner.id}`)).json).toMatchObject({
      parent_id: top.id,
      full_path: `${top.full_path}/api`,
    })
    const outer = (await inTop('find_file')).json
    expect(await world.root.post(`/groups/${outer.id}/transfer`, { group_id: top.id })).toMatchObject({
      status: 400,
      json: { message: 'Transfer failed: Path find_file is a reserved name.' },
    })
    await world.root.delete(`/groups/${outer.id}`)
  })

  test('400 for a transfer that nests groups too deeply', async ({ world }) => {
    const chain: TestGroup[] = []
    for (let depth = 0; depth < 19; depth++) {
      const parent = chain.at(-1)
      chain.push(await world.group(parent ? { parent } : {}))
    }
    const pair = await world.group()
    await world.group({ parent: pair })
    expect(await world.root.post(`/groups/${pair.id}/transfer`, { group_id: chain.at(-1)!.id })).toMatchObject({
      status: 400,
      json: { message: 'Transfer failed: Group has too deep level of nesting.' },
    })
    expect((await world.root.post(`/groups/${pair.id}/transfer`, { group_id: chain.at(-2)!.id })).status).toBe(201)
  })

  test('one of two concurrent transfers of groups into each other succeeds', async ({ world }) => {
    const [one, other] = [await world.group(), await world.group()]
    const answers = await Promise.all([
      world.root.post(`/groups/${one.id}/transfer`, { group_id: other.id }),
      world.root.post(`/groups/${other.id}/transfer`, { group_id: one.id }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
  })
})

test('who moves a group without an owner of its own to the top level is its owner', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[bob, 'owner']] })
  await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 50 })
  const made = async () =>
    (await ann.post('/groups', { name: 'inner', path: unique('inner'), parent_id: group.id })).json
  const [orphan, joined, owned, lower] = [await made(), await made(), await made(), await made()]
  const cid = await world.user()
  await world.root.post(`/groups/${owned.id}/members`, { user_id: cid.id, access_level: 50 })
  // Ends the memberships below, too.
  expect((await world.root.delete(`/groups/${group.id}/members/${ann.id}`)).status).toBe(204)
  await world.root.post(`/groups/${joined.id}/members`, { user_id: bob.id, access_level: 50, expires_at: '2099-01-01' })
  await world.root.post(`/groups/${lower.id}/members`, { user_id: cid.id, access_level: 30 })
  for (const { id } of [orphan, joined, owned])
    expect((await bob.post(`/groups/${id}/transfer`)).status, String(id)).toBe(201)
  const members = async ({ id }: { id: number }) =>
    (await world.root.get(`/groups/${id}/members`)).json.map((each: { id: number; access_level: number }) => [
      each.id,
      each.access_level,
    ])
  expect(await members(orphan)).toEqual([[bob.id, 50]])
  expect(await members(joined)).toEqual([[bob.id, 50]])
  expect(await members(owned)).toEqual([[cid.id, 50]])
  // A member with a lower role becomes the owner.
  await changeUser(world, cid.id, { admin: true })
  expect((await cid.post(`/groups/${lower.id}/transfer`)).status).toBe(201)
  expect(await members(lower)).toEqual([[cid.id, 50]])
  expect((await bob.put(`/groups/${orphan.id}`, { description: 'Mine' })).status).toBe(200)
  expect((await bob.get(`/groups/${owned.id}`)).status).toBe(404)
})
