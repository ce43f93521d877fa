import { describe, expect } from 'vitest'
import { removeTokenLimits } from '../../../../test/tables/tokens.ts'
import {
  Client,
  git,
  type TestGroup,
  type TestProject,
  temporaryFolder,
  test,
  type World,
} from '../../../../test/world.ts'
import { batch, follow, upload } from '../../pushes/large-files/testing.ts'

type Scene = { ann: Client; group: TestGroup; inside: TestProject; beside: TestProject; open: TestProject }

/** A maintainer of two private projects, one of them in her own group, besides a public project. */
async function scene(world: World): Promise<Scene> {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const inside = await world.project({ group: await world.group({ parent: group }) })
  const beside = await world.project({ members: [[ann, 'maintainer']] })
  const open = await world.project({ visibility: 'public' })
  return { ann, group, inside, beside, open }
}

async function limited(world: World, who: Client, limits: object, scopes = ['api']): Promise<Client> {
  const made = await who.post('/user/personal_access_tokens', { name: 'limited', scopes, ...limits })
  expect(made.status, made.text).toBe(201)
  return new Client(world.origin, { id: who.id, username: who.username, token: made.json.token })
}

const ids = (answer: { json: { id: number }[] }) => answer.json.map(({ id }) => id)

describe('limited tokens', () => {
  test('400 for a token limited to more than a thousand projects or groups', async ({ world }) => {
    const ann = await world.user()
    for (const name of ['project_ids', 'group_ids'])
      expect(
        await ann.post('/user/personal_access_tokens', {
          name: 'x',
          scopes: ['api'],
          [name]: Array.from({ length: 1001 }, (_, index) => index),
        }),
      ).toMatchObject({ status: 400, json: { error: `${name} does not have a valid value` } })
  })

  test('the response shows the limits of a token', async ({ world }) => {
    const { ann, group, beside } = await scene(world)
    const made = await ann.post('/user/personal_access_tokens', {
      name: 'x',
      scopes: ['api'],
      project_ids: [beside.id],
      group_ids: [group.id],
    })
    expect(made.json.limited_to).toEqual({ project_ids: [beside.id], group_ids: [group.id] })
  })

  test('a limited token accesses its project or group only, not even other public projects', async ({ world }) => {
    const { ann, group, inside, beside, open } = await scene(world)
    const toProject = await limited(world, ann, { project_ids: [beside.id] })
    const toGroup = await limited(world, ann, { group_ids: [group.id] })
    const toNothing = await limited(world, ann, { project_ids: [] })
    const reached = async (who: Client) =>
      Promise.all([inside, beside, open].map(async ({ id }) => (await who.get(`/projects/${id}`)).status))
    expect(await reached(ann)).toEqual([200, 200, 200])
    expect(await reached(toProject)).toEqual([404, 200, 404])
    expect(await reached(toGroup)).toEqual([200, 404, 404])
    expect(await reached(toNothing)).toEqual([404, 404, 404])

    expect((await toProject.put(`/projects/${beside.id}`, { description: 'x' })).status).toBe(200)
    expect((await toProject.post(`/projects/${open.id}/star`)).status).toBe(404)
    expect((await toGroup.get(`/groups/${group.id}`)).status).toBe(200)
    expect((await toProject.get(`/groups/${group.id}`)).status).toBe(404)
  })

  test('lists contain only what a limited token can access', async ({ world }) => {
    const { ann, group, inside, beside } = await scene(world)
    const toProject = await limited(world, ann, { project_ids: [beside.id] })
    const toGroup = await limited(world, ann, { group_ids: [group.id] })
    expect(ids(await toProject.get('/projects'))).toEqual([beside.id])
    expect(ids(await toGroup.get('/projects'))).toEqual([inside.id])
    expect(ids(await toProject.get('/groups'))).toEqual([])
    expect(ids(await toGroup.get('/groups'))).toContain(group.id)
    expect(ids(await toGroup.get('/groups?all_available=true'))).toHaveLength(2)
  })

  test('a limited token reads the name of its user and manages only itself', async ({ world }) => {
    const { ann, group, beside } = await scene(world)
    const to = await limited(world, ann, { group_ids: [group.id], project_ids: [beside.id] })
    expect((await to.get('/user')).json.id).toBe(ann.id)
    expect((await to.get('/personal_access_tokens/self')).json.limited_to).not.toBeNull()
    // Clients make this request first.
    for (const path of ['/version', '/metadata']) expect((await to.get(path)).status, path).toBe(200)
    for (const [verb, path, json] of [
      ['GET', '/personal_access_tokens', undefined],
      ['POST', '/user/personal_access_tokens', { name: 'more', scopes: ['api'] }],
      ['POST', '/user/keys', { title: 'x', key: 'x' }],
      ['POST', '/projects', { name: 'x' }],
      ['POST', '/projects', { name: 'x', namespace_id: group.id }],
      ['POST', '/groups', { name: 'x', path: 'x' }],
      ['GET', '/namespaces', undefined],
      ['GET', '/users', undefined],
    ] as const)
      expect((await to.send(verb, path, { json })).status, `${verb} ${path}`).toBe(403)
    const { token } = (await to.post('/personal_access_tokens/self/rotate')).json
    const next = new Client(world.origin, { id: ann.id, username: ann.username, token })
    expect(ids(await next.get('/projects'))).toHaveLength(2)
  })

  test('a limited token can neither import from nor export to other places', async ({ world }) => {
    const { ann, inside, beside } = await scene(world)
    const elsewhere = await world.group({ members: [[ann, 'owner']] })
    const to = await limited(world, ann, { project_ids: [inside.id] })
    expect(
      (await to.put(`/projects/${inside.id}/transfer`, { namespace: elsewhere.id })).status,
    ).toBeGreaterThanOrEqual(400)
    const share = { group_id: elsewhere.id, group_access: 10 }
    expect((await to.post(`/projects/${inside.id}/share`, share)).status).toBe(404)
    const commit = { branch: 'main', commit_message: 'x', start_project: beside.id, start_branch: 'main', actions: [] }
    expect((await to.post(`/projects/${inside.id}/repository/commits`, commit)).status).toBe(404)
  })

  test('a limited token of an administrator has only the role in its project', async ({ world }) => {
    const admin = await world.user({ admin: true })
    const member = await world.project({ members: [[admin, 'developer']] })
    const to = await limited(world, admin, { project_ids: [member.id] })
    expect((await to.get(`/projects/${member.id}`)).status).toBe(200)
    expect((await to.delete(`/projects/${member.id}`)).status).toBe(403)
    expect((await to.get(`/users/${admin.id}/impersonation_tokens`)).status).toBe(404)
  })

  test('limits apply to git and LFS, and to credentials created with the token', async ({ world }) => {
    const { ann, inside, beside } = await scene(world)
    const to = await limited(world, ann, { project_ids: [inside.id] })
    await using folder = await temporaryFolder()
    await git(folder.path, 'init', '-q', '-b', 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
    await git(folder.path, 'push', '-q', world.remote(inside, to), 'main')
    await expect(git(folder.path, 'ls-remote', world.remote(beside, to))).rejects.toThrow('not found')
    const made = { ...inside, url: `${world.origin}/${ann.username}/made.git` }
    await expect(git(folder.path, 'push', '-q', world.remote(made, to), 'main')).rejects.toThrow('not found')

    await upload(to, inside, 'large')
    expect((await batch(to, beside, 'upload', ['large'])).status).toBe(404)
    const { actions } = (await batch(to, inside, 'download', ['large'])).json.objects[0]
    const elsewhere = { ...actions.download, href: actions.download.href.replace(inside.full_path, beside.full_path) }
    expect((await follow(world.anonymous, 'GET', actions.download)).status).toBe(200)
    expect((await follow(world.anonymous, 'GET', elsewhere)).status).toBe(404)
  })

  test('400 for a token limited to projects or groups without a role of the user', async ({ world }) => {
    const { ann, open } = await scene(world)
    const foreign = await world.group()
    expect(
      await ann.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'], project_ids: [open.id] }),
    ).toMatchObject({
      status: 400,
      json: { message: { project_ids: ['can only contain projects in which the person has a role'] } },
    })
    expect(
      await ann.post('/user/personal_access_tokens', { name: 'x', scopes: ['api'], group_ids: [foreign.id] }),
    ).toMatchObject({
      status: 400,
      json: { message: { group_ids: ['can only contain groups in which the person has a role'] } },
    })
  })

  test('a limited token has no access after its project is removed', async ({ world }) => {
    const { ann, beside, open } = await scene(world)
    const to = await limited(world, ann, { project_ids: [beside.id] })
    await removeTokenLimits(world, beside.id)
    expect((await to.get(`/projects/${open.id}`)).status).toBe(404)
    expect(ids(await to.get('/projects'))).toEqual([])
  })
})
