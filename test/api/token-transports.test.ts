import { beforeAll, describe, expect } from 'vitest'
import { type Scope, scopes } from '../../src/access/scopes.ts'
import { batch, lfs, upload } from '../../src/modules/pushes/large-files/testing.ts'
import { gitSsh, hasSsh, ssh, sshUrl, withKey } from '../ssh.ts'
import { revokeToken } from '../tables/tokens.ts'
import { Client, git, type TestProject, temporaryFolder, test, World } from '../world.ts'

type Access = 'account' | 'record' | 'file' | 'change' | 'fetch' | 'push' | 'download' | 'upload'

const allAccess: readonly Access[] = ['account', 'record', 'file', 'change', 'fetch', 'push', 'download', 'upload']

/** What each scope gives access to, for any token in any place of a request. */
const opens: readonly [Scope, readonly Access[]][] = [
  ['api', allAccess],
  ['read_api', ['account', 'record', 'file', 'fetch', 'download']],
  ['read_user', ['account']],
  ['read_repository', ['file', 'fetch', 'download']],
  ['write_repository', ['fetch', 'push', 'download', 'upload']],
  ['read_registry', []],
  ['write_registry', []],
]

/** Places of a token in API requests. Forms and JSON bodies are covered in tokens.test.ts. */
const places: readonly [string, (token: string) => { query?: string; headers?: Record<string, string> }][] = [
  ['PRIVATE-TOKEN', (token) => ({ headers: { 'private-token': token } })],
  ['Bearer', (token) => ({ headers: { authorization: `Bearer ${token}` } })],
  ['private_token', (token) => ({ query: `private_token=${token}` })],
  ['access_token', (token) => ({ query: `access_token=${token}` })],
]

const password = 'correct horse battery'

/** A token of each kind that belongs to a maintainer of the project. */
const kinds: readonly [string, (scope: Scope) => Promise<string>][] = [
  ['personal', async (scope) => made(`/users/${ann.id}/personal_access_tokens`, { scopes: [scope] })],
  ['impersonation', async (scope) => made(`/users/${ann.id}/impersonation_tokens`, { scopes: [scope] })],
  ['project', async (scope) => made(`/projects/${project.id}/access_tokens`, { scopes: [scope] })],
  [
    'limited',
    async (scope) => made(`/users/${ann.id}/personal_access_tokens`, { scopes: [scope], project_ids: [project.id] }),
  ],
  [
    'OAuth',
    async (scope) => {
      const json = { grant_type: 'password', username: ann.username, password, scope }
      return (await world.anonymous.send('POST', '//oauth/token', { json })).json.access_token
    },
  ],
]

let world: World
let ann: Client
let project: TestProject

const made = async (path: string, more: object): Promise<string> => {
  const answer = await world.root.post(path, { name: 'x', ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.json.token
}

beforeAll(async () => {
  world = await World.start()
  ann = await world.user()
  project = await world.project({ members: [[ann, 'maintainer']] })
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
  await git(folder.path, 'push', '-q', world.remote(project, ann), 'main')
  await upload(ann, project, 'large')
  return () => world[Symbol.asyncDispose]()
})

async function throughApi(token: string, show: (typeof places)[number][1], access: Access): Promise<number> {
  const { query = '', headers = {} } = show(token)
  const path = { account: '/user', record: `/projects/${project.id}`, change: `/projects/${project.id}` }[
    access as string
  ]
  const file = `/projects/${project.id}/repository/files/none?ref=main`
  const url = path === undefined ? `${file}&${query}` : `${path}?${query}`
  const { status } = await world.anonymous.send(access === 'change' ? 'PUT' : 'GET', url, {
    headers,
    ...(access === 'change' && { json: { description: 'x' } }),
  })
  // The file does not exist, which only permitted callers can find out.
  return access === 'file' && status === 404 ? 200 : status
}

async function throughGit(token: string, username: string, access: Access): Promise<number> {
  const who = new Client(world.origin, { id: 0, username, token })
  if (access === 'download' || access === 'upload') return (await batch(who, project, access, ['large'])).status
  const service = access === 'fetch' ? 'git-upload-pack' : 'git-receive-pack'
  const authorization = `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`
  return (
    await who.send('GET', `//${project.full_path}.git/info/refs?service=${service}`, {
      headers: { authorization, 'private-token': '' },
    })
  ).status
}

test('every scope is covered by the table', () => {
  // `sudo` acts as other users and has its own test.
  expect([...opens.map(([scope]) => scope), 'sudo'].sort()).toEqual([...scopes].sort())
})

/** Places in git and LFS requests, or of git credentials in API requests, where a token is not accepted. */
const elsewhere = (token: string): readonly [where: string, headers: Record<string, string>, query: string][] => [
  ['PRIVATE-TOKEN', { 'private-token': token }, ''],
  ['Bearer', { authorization: `Bearer ${token}` }, ''],
  ['query', {}, `private_token=${token}&access_token=${token}`],
]

test.for(opens)('with the scope %s, a token is refused where the transport reads no token', async ([scope]) => {
  const token = await made(`/users/${ann.id}/personal_access_tokens`, { scopes: [scope] })
  const anonymous = world.anonymous
  for (const [where, headers, query] of elsewhere(token)) {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const path = `//${project.full_path}.git/info/refs?service=${service}&${query}`
      expect((await anonymous.get(path, { headers })).status, `${where}, ${service}`).toBe(401)
    }
    const locks = await lfs(anonymous, project, 'GET', `locks?${query}`, { headers })
    expect(locks.status, `${where}, large files`).toBe(401)
  }
  const authorization = `Basic ${Buffer.from(`${ann.username}:${token}`).toString('base64')}`
  expect((await anonymous.get(`/projects/${project.id}`, { headers: { authorization } })).status).toBe(404)
})

test.skipIf(!hasSsh)('an SSH key gives the same git access as a token of its user with the scope api', async () => {
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'tried')
  const reporter = await world.user()
  await world.root.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
  for (const who of [ann, reporter, await world.user()]) {
    const key = await withKey(folder.path, who)
    const large = async (operation: string) =>
      (await ssh(world, key, `git-lfs-authenticate '${project.full_path}.git' ${operation}`)).code === 0
    const url = sshUrl(world, project)
    const overSsh = [
      (await gitSsh(world, key, folder.path, 'ls-remote', url)).code === 0,
      (await gitSsh(world, key, folder.path, 'push', '--dry-run', url, 'HEAD:refs/heads/tried')).code === 0,
      await large('download'),
      await large('upload'),
    ]
    const transports = ['fetch', 'push', 'download', 'upload'] as const
    const overHttp = await Promise.all(
      transports.map(async (access) => (await throughGit(who.token!, who.username, access)) === 200),
    )
    expect(overSsh).toEqual(overHttp)
  }
})

describe.for(kinds)('a token of the kind %s', ([, make]) => {
  test.for(opens)('the scope %s gives the same access in every place that accepts the token', async ([scope, open]) => {
    const token = await make(scope)
    const expected = (accesses: readonly Access[]) =>
      Object.fromEntries(accesses.map((access) => [access, open.includes(access) ? 200 : 403]))
    const api = ['account', 'record', 'file', 'change'] as const
    for (const [where, show] of places) {
      const answers = await Promise.all(api.map(async (access) => [access, await throughApi(token, show, access)]))
      expect(Object.fromEntries(answers), where).toEqual(expected(api))
    }
    const ofGit = ['fetch', 'push', 'download', 'upload'] as const
    for (const username of ['oauth2', 'anything']) {
      const answers = await Promise.all(
        ofGit.map(async (access) => [access, await throughGit(token, username, access)]),
      )
      expect(Object.fromEntries(answers), username).toEqual(expected(ofGit))
    }
  })

  test('a revoked token is refused by every transport', async () => {
    const token = await make('api')
    const statuses = async () => [
      ...(await Promise.all(places.map(([, show]) => throughApi(token, show, 'record')))),
      await throughGit(token, 'x', 'fetch'),
      await throughGit(token, 'x', 'download'),
    ]
    expect(new Set(await statuses())).toEqual(new Set([200]))
    // Revoked in the database, without the notification.
    await revokeToken(world, token)
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set([401]))
  })
})

test('403 for a token with only the scope sudo', async () => {
  const token = await made('/users/1/personal_access_tokens', { scopes: ['sudo'] })
  for (const [where, show] of places) expect(await throughApi(token, show, 'record'), where).toBe(403)
  for (const access of ['fetch', 'push', 'download', 'upload'] as const)
    expect(await throughGit(token, 'x', access), access).toBe(403)
})
