import { describe, expect } from 'vitest'
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

/** Somebody who maintains two private projects, one of them in a group of her own, beside a public one. */
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

describe('a token that is limited', () => {
  test('is limited to a thousand places at most', async ({ world }) => {
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

  test('says so', async ({ world }) => {
    const { ann, group, beside } = await scene(world)
    const made = await ann.post('/user/personal_access_tokens', {
      name: 'x',
      scopes: ['api'],
      project_ids: [beside.id],
      group_ids: [group.id],
    })
    expect(made.json.limited_to).toEqual({ project_ids: [beside.id], group_ids: [group.id] })
  })

  test('reaches its project, or what is in its group, and nothing else, be it public', async ({ world }) => {
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

  test('lists what it reaches', async ({ world }) => {
    const { ann, group, inside, beside } = await scene(world)
    const toProject = await limited(world, ann, { project_ids: [beside.id] })
    const toGroup = await limited(world, ann, { group_ids: [group.id] })
    expect(ids(await toProject.get('/projects'))).toEqual([beside.id])
    expect(ids(await toGroup.get('/projects'))).toEqual([inside.id])
    expect(ids(await toProject.get('/groups'))).toEqual([])
    expect(ids(await toGroup.get('/groups'))).toContain(group.id)
    expect(ids(await toGroup.get('/groups?all_available=true'))).toHaveLength(2)
  })

  test('knows whose it is, and does nothing else for the account', async ({ world }) => {
    const { ann, group, beside } = await scene(world)
    const to = await limited(world, ann, { group_ids: [group.id], project_ids: [beside.id] })
    expect((await to.get('/user')).json.id).toBe(ann.id)
    expect((await to.get('/personal_access_tokens/self')).json.limited_to).not.toBeNull()
    // Clients ask before anything else.
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

  test('brings nothing in from elsewhere, and takes nothing out', async ({ world }) => {
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

  test("gives no administrator's rights", async ({ world }) => {
    const admin = await world.user({ admin: true })
    const member = await world.project({ members: [[admin, 'developer']] })
    const to = await limited(world, admin, { project_ids: [member.id] })
    expect((await to.get(`/projects/${member.id}`)).status).toBe(200)
    expect((await to.delete(`/projects/${member.id}`)).status).toBe(403)
    expect((await to.get(`/users/${admin.id}/impersonation_tokens`)).status).toBe(404)
  })

  test('is as limited to git and for large files, credentials made with it included', async ({ world }) => {
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

  test('cannot be limited to where the person has no role', async ({ world }) => {
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

  test('reaches nothing when its project is gone', async ({ world }) => {
    const { ann, beside, open } = await scene(world)
    const to = await limited(world, ann, { project_ids: [beside.id] })
    await world.rows('delete from access_token_limits where project_id = $1', [beside.id])
    expect((await to.get(`/projects/${open.id}`)).status).toBe(404)
    expect(ids(await to.get('/projects'))).toEqual([])
  })
})
