import { getIntrospectionQuery } from 'graphql'
import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../../../modules/review/merge-requests/testing.ts'

async function ask(
  world: World,
  who: Pick<Client, 'token'> | undefined,
  body: object | string,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${world.origin}/api/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(who?.token && { authorization: `Bearer ${who.token}` }),
      ...headers,
    },
    body: JSON.stringify(typeof body === 'string' ? { query: body } : body),
  })
  return { status: answer.status, json: (await answer.json()) as any }
}

const projectQuery = `query ($fullPath: ID!, $iid: String!) {
  project(fullPath: $fullPath) { id fullPath visibility mergeRequest(iid: $iid) { id iid state draft author { username } } }
}`

describe('POST /api/graphql', () => {
  test('the caller is the current user, and learns the version', async ({ world }) => {
    const ann = await world.user()
    const { version } = (await ann.get('/version')).json
    expect(await ask(world, ann, '{ currentUser { id username } metadata { version } }')).toEqual({
      status: 200,
      json: {
        data: { currentUser: { id: `gid://gitlab/User/${ann.id}`, username: ann.username }, metadata: { version } },
      },
    })
  })

  test('the current user has their groups, personal namespace and public email', async ({ world }) => {
    const ann = await world.user()
    const query = '{ currentUser { bot groupCount namespace { id } publicEmail } }'
    const read = async (who: Pick<Client, 'token'>) => (await ask(world, who, query)).json
    const { id } = (await ann.get('/namespaces')).json.find(({ path }: { path: string }) => path === ann.username)
    const namespace = { id: `gid://gitlab/Namespaces::UserNamespace/${id}` }
    expect(await read(ann)).toEqual({
      data: { currentUser: { bot: false, groupCount: 0, namespace, publicEmail: '' } },
    })
    const project = await world.project({
      group: await world.group({ members: [[ann, 'guest']] }),
      members: [[ann, 'developer']],
    })
    const ended = await world.group()
    await world.root.post(`/groups/${ended.id}/members`, {
      user_id: ann.id,
      access_level: 10,
      expires_at: '2020-01-01',
    })
    const { email } = (await ann.get('/user')).json
    await world.root.put(`/users/${ann.id}`, { public_email: email })
    expect(await read(ann)).toEqual({
      data: { currentUser: { bot: false, groupCount: 1, namespace, publicEmail: email } },
    })
    const robot = { name: 'robot', scopes: ['api'], access_level: 30 }
    const { token } = (await world.root.post(`/projects/${project.id}/access_tokens`, robot)).json
    expect(await read({ token })).toMatchObject({ data: { currentUser: { bot: true, groupCount: 0 } } })
  })

  test('anonymous callers are no user, and learn no version', async ({ world }) => {
    expect((await ask(world, undefined, '{ currentUser { id } metadata { version } }')).json).toEqual({
      data: { currentUser: null, metadata: null },
    })
  })

  test('a project and its merge request are found by path and number', async ({ world }) => {
    const { project, id, iid, at } = await openMergeRequest(world, { title: 'Draft: Soon' })
    const variables = { fullPath: project.full_path, iid: String(iid) }
    const found = async () => (await ask(world, world.root, { query: projectQuery, variables })).json.data.project
    expect(await found()).toEqual({
      id: `gid://gitlab/Project/${project.id}`,
      fullPath: project.full_path,
      visibility: 'public',
      mergeRequest: {
        id: `gid://gitlab/MergeRequest/${id}`,
        iid: String(iid),
        state: 'opened',
        draft: true,
        author: { username: 'root' },
      },
    })
    await world.root.put(at, { state_event: 'close' })
    expect((await found()).mergeRequest.state).toBe('closed')
  })

  test('users are active unless they are blocked or deactivated', async ({ world }) => {
    const ann = await world.user()
    const { project, iid } = await openMergeRequest(world, { members: [[ann, 'developer']], author: ann })
    const query = `{ currentUser { active } project(fullPath: "${project.full_path}") { mergeRequest(iid: "${iid}") { author { active } } } }`
    const read = async () => (await ask(world, world.root, query)).json.data
    const shown = (active: boolean) => ({
      currentUser: { active: true },
      project: { mergeRequest: { author: { active } } },
    })
    expect(await read()).toEqual(shown(true))
    await world.root.post(`/users/${ann.id}/block`)
    expect(await read()).toEqual(shown(false))
  })

  test('every field of the schema has a value', async ({ world }) => {
    const { project, iid, record } = await openMergeRequest(world, { description: 'Text' })
    const user = 'id username name state active avatarUrl webUrl webPath'
    const query = `{
      metadata { version revision enterprise }
      currentUser { ${user} bot groupCount namespace { id } publicEmail }
      project(fullPath: "${project.full_path}") {
        id name path fullPath visibility archived webUrl httpUrlToRepo sshUrlToRepo
        mergeRequest(iid: "${iid}") {
          id iid title description state draft sourceBranch targetBranch diffHeadSha createdAt updatedAt webUrl
          author { ${user} }
        }
      }
    }`
    const { json } = await ask(world, world.root, query)
    expect(json.errors).toBeUndefined()
    expect(json.data.project.mergeRequest).toMatchObject({
      title: record.title,
      description: 'Text',
      sourceBranch: record.source_branch,
      targetBranch: 'main',
      diffHeadSha: record.sha,
      createdAt: record.created_at,
      webUrl: record.web_url,
      author: { webUrl: record.author.web_url },
    })
    const rest = (await world.root.get(`/projects/${project.id}`)).json
    expect(json.data.project).toMatchObject({
      name: rest.name,
      webUrl: rest.web_url,
      httpUrlToRepo: rest.http_url_to_repo,
      sshUrlToRepo: rest.ssh_url_to_repo,
      archived: false,
    })
  })

  test('what the caller cannot see is null, as what does not exist', async ({ world }) => {
    const [stranger, guest] = await Promise.all([world.user(), world.user()])
    const closed = await openMergeRequest(world, { visibility: 'private', members: [[guest, 'guest']] })
    const open = await openMergeRequest(world)
    const read = async (who: Client | undefined, { full_path }: { full_path: string }, iid: unknown = 1) =>
      (await ask(world, who, { query: projectQuery, variables: { fullPath: full_path, iid: String(iid) } })).json.data
        .project
    expect(await read(stranger, closed.project)).toBeNull()
    expect(await read(undefined, closed.project)).toBeNull()
    expect(await read(guest, closed.project)).toMatchObject({ mergeRequest: null })
    expect(await read(undefined, open.project)).toMatchObject({ mergeRequest: null })
    expect(await read(stranger, open.project)).toMatchObject({ mergeRequest: { iid: '1' } })
    for (const iid of ['999', '0', 'x', '1e3', '99999999999999999999'])
      expect(await read(stranger, open.project, iid)).toMatchObject({ mergeRequest: null })
    for (const full_path of ['none/none', '1', `${open.project.id}`, 'a/\0'])
      expect(await read(stranger, { full_path })).toBeNull()
  })

  const deep = (levels: number) => `{ __schema { types ${'{ ofType '.repeat(levels)} { name } ${'}'.repeat(levels)} } }`
  test.for([
    ['an unknown field', '{ currentUser { id secret } }', /Cannot query field "secret"/],
    ['an unknown argument', '{ project(id: 1) { id } }', /Unknown argument "id"/],
    ['a mutation', 'mutation { createNote { id } }', /not configured to execute mutation/],
    ['a syntax error', '{ currentUser {', /Syntax Error/],
    ['nothing', '', /Syntax Error/],
    ['many tokens', `{ currentUser { ${'id '.repeat(2000)} } }`, /more that 1000 tokens/],
    ['many levels', deep(15), /exceeds max depth of 15/],
    [
      'many aliases',
      `{ ${Array.from({ length: 30 }, (_, at) => `a${at}: metadata { version }`).join(' ')} }`,
      /30 aliases/,
    ],
    [
      'fragments that multiply',
      `{ currentUser { ...f0 } } ${Array.from({ length: 40 }, (_, at) => `fragment f${at} on CurrentUser { ...f${at + 1} ...f${at + 1} }`).join(' ')} fragment f40 on CurrentUser { id }`,
      /exceeds the maximum of 500/,
    ],
    ['fragments in a circle', '{ currentUser { ...f } } fragment f on CurrentUser { ...f }', /Cannot spread fragment/],
  ] as const)('a query is refused with an error for %s', async ([, query, error], { world }) => {
    const { status, json } = await ask(world, world.root, query)
    expect(status).toBe(200)
    expect(json.errors[0].message).toMatch(error)
    expect(json.data ?? null).toBeNull()
  })

  test('tools can read the schema', async ({ world }) => {
    const { json } = await ask(world, undefined, getIntrospectionQuery())
    expect(json.errors).toBeUndefined()
    expect(json.data.__schema.types).toContainEqual(expect.objectContaining({ name: 'MergeRequest' }))
  })

  test('400 for a body without a query', async ({ world }) => {
    for (const body of [{}, { query: 1 }, { query: '{ metadata { version } }', variables: [] }])
      expect((await ask(world, world.root, body)).status).toBe(400)
  })

  test('a token needs a scope of the API', async ({ world }) => {
    const ann = await world.user()
    const [reads, other] = [await world.as(ann, ['read_api']), await world.as(ann, ['read_repository'])]
    expect((await ask(world, reads, '{ currentUser { username } }')).json.data.currentUser.username).toBe(ann.username)
    expect((await ask(world, other, '{ currentUser { username } }')).status).toBe(403)
    expect((await ask(world, undefined, '{ metadata { version } }', { 'private-token': 'wrong' })).status).toBe(401)
  })

  test('an administrator asks as another user by sudo, and no one else does', async ({ world }) => {
    const ann = await world.user()
    const admin = await world.as(world.root, ['api', 'sudo'])
    const query = '{ currentUser { username } }'
    const data = { currentUser: { username: ann.username } }
    expect(await ask(world, admin, query, { sudo: ann.username })).toEqual({ status: 200, json: { data } })
    expect((await ask(world, ann, query, { sudo: 'root' })).status).toBe(403)
    expect((await ask(world, await world.as(world.root, ['api']), query, { sudo: ann.username })).status).toBe(403)
    expect((await ask(world, admin, query, { sudo: 'no-such-user' })).status).toBe(404)
  })

  test('403 until the user accepts the terms', async ({ world }) => {
    const ann = await world.user()
    await world.settings({})
    await world.root.put('/application/settings', { enforce_terms: true, terms: 'Be kind.' })
    await expect.poll(async () => (await world.app.open(null)).settings.enforce_terms).toBe(true)
    const query = '{ currentUser { username } }'
    expect((await ask(world, ann, query)).status).toBe(403)
    const { id } = (await ann.get('/user/terms')).json
    expect((await ann.post('/user/terms/accept', { id })).status).toBe(201)
    expect((await ask(world, ann, query)).status).toBe(200)
  })
})
