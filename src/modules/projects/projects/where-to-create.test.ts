import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'

const notValid = { status: 400, json: { message: { namespace: ['is not valid'] } } }

describe('permission to create projects', () => {
  test.for([
    { project_creation_level: 'developer', level: 'developer', status: 201 },
    { project_creation_level: 'developer', level: 'reporter', status: 400 },
    { project_creation_level: 'maintainer', level: 'developer', status: 400 },
    { project_creation_level: 'maintainer', level: 'maintainer', status: 201 },
    { project_creation_level: 'noone', level: 'owner', status: 400 },
  ] as const)('at project_creation_level $project_creation_level, a $level gets $status', async (each, { world }) => {
    const ann = await world.user()
    const { project_creation_level, level, status } = each
    const group = await world.group({ project_creation_level, members: [[ann, level]] })
    const made = await ann.post('/projects', { name: 'P', namespace_id: group.id })
    expect(made.status).toBe(status)
    if (status === 400) expect(made).toMatchObject(notValid)
    else
      expect(made.json).toMatchObject({
        path_with_namespace: `${group.path}/p`,
        namespace: { id: group.id, kind: 'group', web_url: `${world.origin}/groups/${group.path}` },
        permissions: { project_access: { access_level: 40 } },
      })
    if (status === 201) expect(made.json).not.toHaveProperty('owner')
  })

  test('members of a group create projects in its subgroups', async ({ world }) => {
    const ann = await world.user()
    const inner = await world.group({ parent: await world.group({ members: [[ann, 'developer']] }) })
    expect(await ann.post('/projects', { name: 'P', namespace_id: inner.id })).toMatchObject({
      status: 201,
      json: { permissions: { project_access: { access_level: 40 }, group_access: { access_level: 30 } } },
    })
  })

  test('400 for a project in a namespace of another user, a foreign or a missing group', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const foreign = (await world.root.get(`/namespaces/${bob.username}`)).json.id
    const open = await world.group({ visibility: 'public' })
    for (const namespace_id of [foreign, open.id, 0, -1, 2147483647, Number.MAX_SAFE_INTEGER])
      expect(await ann.post('/projects', { name: 'P', namespace_id })).toMatchObject(notValid)
  })

  test('400 for a project more visible than its group; personal namespaces have no limit', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'internal', members: [[ann, 'owner']] })
    expect(await ann.post('/projects', { name: 'P', namespace_id: group.id, visibility: 'public' })).toMatchObject({
      status: 400,
      json: { message: { visibility_level: ['public is not allowed in a internal group.'] } },
    })
    expect((await ann.post('/projects', { name: 'P', visibility: 'public' })).json.visibility).toBe('public')
  })

  test('a project without a visibility has the default of the settings, at most that of its group', async ({
    world,
  }) => {
    const ann = await world.user()
    const groupOf = async (visibility: 'private' | 'internal' | 'public') =>
      (await world.group({ visibility, members: [[ann, 'owner']] })).id
    const madeIn = async (namespace_id?: number) =>
      (await ann.post('/projects', { name: unique('default'), namespace_id })).json.visibility
    await world.settings({ default_project_visibility: 'public' })
    expect(await madeIn(await groupOf('private'))).toBe('private')
    expect(await madeIn(await groupOf('internal'))).toBe('internal')
    expect(await madeIn(await groupOf('public'))).toBe('public')
    expect(await madeIn()).toBe('public')
  })

  test('403 when the project limit of the user is reached, which counts personal projects only', async ({ world }) => {
    const ann = await world.user({ projects_limit: 1 })
    const group = await world.group({ members: [[ann, 'maintainer']] })
    expect((await ann.post('/projects', { name: 'One' })).status).toBe(201)
    expect(await ann.post('/projects', { name: 'Two' })).toMatchObject({
      status: 403,
      json: { error: ['Your project limit is 1 projects! Please contact your administrator to increase it'] },
    })
    expect((await ann.post('/projects', { name: 'Two', namespace_id: group.id })).status).toBe(201)
    const none = await world.user({ projects_limit: 0 })
    expect(await none.post('/projects', { name: 'One' })).toMatchObject({
      status: 403,
      json: {
        error: ['Personal project creation is not allowed. Please contact your administrator with questions'],
      },
    })
    expect((await (await world.user({ external: true })).post('/projects', { name: 'One' })).status).toBe(403)
  })

  test('the project limit holds for concurrent creations', async ({ world }) => {
    const ann = await world.user({ projects_limit: 2 })
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => ann.post('/projects', { name: `P${n}` })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403, 403])
  })
})

describe('POST /projects/user/:id', () => {
  test('administrators create a project for a user; 403 for others', async ({ world }) => {
    const [ann, bob] = [await world.user({ projects_limit: 1 }), await world.user()]
    const made = await world.root.post(`/projects/user/${ann.id}`, { name: 'Gift' })
    expect(made).toMatchObject({
      status: 201,
      json: { path_with_namespace: `${ann.username}/gift`, creator_id: ann.id, owner: { id: ann.id } },
    })
    expect((await ann.get(`/projects/${made.json.id}`)).json.permissions.project_access).toMatchObject({
      access_level: 40,
    })
    expect(await bob.post(`/projects/user/${ann.id}`, { name: unique('x') })).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden' },
    })
    expect((await world.anonymous.post(`/projects/user/${ann.id}`, { name: 'x' })).status).toBe(401)
    expect(await world.root.post(`/projects/user/${ann.id}`, { name: 'Second' })).toMatchObject({
      status: 403,
      json: { error: ['Your project limit is 1 projects! Please contact your administrator to increase it'] },
    })
  })

  test('404 for a project of a missing user, 400 without a name', async ({ world }) => {
    expect(await world.root.post('/projects/user/2147483647', { name: 'x' })).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
    expect(await world.root.post('/projects/user/1', {})).toMatchObject({
      status: 400,
      json: { error: 'name, path are missing, at least one parameter must be provided' },
    })
  })
})
