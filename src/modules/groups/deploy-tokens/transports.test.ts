import { describe, expect } from 'vitest'
import { deleteNamespaceOf, deleteUser } from '../../../../test/tables/users.ts'
import { Client, git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { batch, follow, lfs, oidOf, upload } from '../../pushes/large-files/testing.ts'

type Shown = { id: number; username: string; token: string }

const tokenOf = async (world: World, place: string, more: object = {}): Promise<Shown> =>
  (await world.root.post(`${place}/deploy_tokens`, { name: 'ci', scopes: ['read_repository'], ...more })).json

/** A project with one commit. */
async function filled(world: World, options: Parameters<World['project']>[0] = {}): Promise<TestProject> {
  const project = await world.project(options)
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'main')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
  await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
  return project
}

/** The response of git to a fetch or push with these credentials. */
async function asks(world: World, project: TestProject, shown: Partial<Shown>, service = 'git-upload-pack') {
  const authorization = `Basic ${Buffer.from(`${shown.username}:${shown.token}`).toString('base64')}`
  const path = `//${project.full_path}.git/info/refs?service=${service}`
  const { status, text } = await world.anonymous.get(path, { headers: { authorization } })
  return status === 200 ? 200 : `${status} ${text.trim()}`
}

const denied = '401 HTTP Basic: Access denied'
const missing = '404 The project you were looking for could not be found.'

describe('access with deploy tokens', () => {
  test('a deploy token fetches its project with real git and cannot push', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await filled(world)
    const { username, token } = await tokenOf(world, `/projects/${project.id}`, { username: 'robot' })
    const remote = world.remote(project, new Client(world.origin, { id: 0, username, token }))
    await git(folder.path, 'clone', '-q', remote, 'copy')
    expect(await git(`${folder.path}/copy`, 'log', '--format=%s')).toBe('first')
    await git(`${folder.path}/copy`, 'commit', '-q', '--allow-empty', '-m', 'second')
    await expect(git(`${folder.path}/copy`, 'push', '-q', 'origin', 'main')).rejects.toThrow(/403/)
  })

  test('each deploy token has its own rate limit', async ({ world }) => {
    const [mine, theirs] = [await world.project(), await world.project()]
    const [one, other] = [await tokenOf(world, `/projects/${mine.id}`), await tokenOf(world, `/projects/${theirs.id}`)]
    await world.settings({
      throttle_authenticated_web_enabled: true,
      throttle_authenticated_web_requests_per_period: 2,
      throttle_authenticated_web_period_in_seconds: 100_000,
    })
    const answers = []
    for (let n = 0; n < 3; n++) answers.push(await asks(world, mine, one))
    expect(answers).toEqual([200, 200, '429 Retry later'])
    expect(await asks(world, theirs, other)).toBe(200)
  })

  test('a deploy token accesses its project or group, and public projects only', async ({ world }) => {
    const top = await world.group()
    const group = await world.group({ parent: top })
    const inside = await filled(world, { group })
    const [beside, internal, open] = [
      await filled(world, { group: top }),
      await filled(world, { visibility: 'internal' }),
      await filled(world, { visibility: 'public' }),
    ]
    const ofProject = await tokenOf(world, `/projects/${inside.id}`)
    const ofGroup = await tokenOf(world, `/groups/${group.id}`)
    const ofTop = await tokenOf(world, `/groups/${top.id}`)
    const reached = async (shown: Shown) =>
      Promise.all([inside, beside, internal, open].map((project) => asks(world, project, shown)))
    expect(await reached(ofProject)).toEqual([200, missing, missing, 200])
    expect(await reached(ofGroup)).toEqual([200, missing, missing, 200])
    expect(await reached(ofTop)).toEqual([200, 200, missing, 200])
    for (const project of [inside, open])
      expect(await asks(world, project, ofTop, 'git-receive-pack')).toBe('403 You are not allowed to upload code.')
    // Nor does a push to a missing path create a project.
    const nowhere = { ...inside, full_path: `${group.full_path}/none` }
    expect(await asks(world, nowhere, ofGroup, 'git-receive-pack')).toBe(missing)
  })

  test('401 with a deploy token that has another username, expired or was revoked', async ({ world }) => {
    const project = await filled(world)
    const place = `/projects/${project.id}`
    const shown = await tokenOf(world, place)
    expect(await asks(world, project, { ...shown, username: 'other' })).toBe(denied)
    expect(await asks(world, project, { ...shown, token: 'x'.repeat(20) })).toBe(denied)
    expect(await asks(world, project, await tokenOf(world, place, { expires_at: '2020-01-01' }))).toBe(denied)
    expect(await asks(world, project, shown)).toBe(200)
    await world.root.delete(`${place}/deploy_tokens/${shown.id}`)
    expect(await asks(world, project, shown)).toBe(denied)
  })

  test('403 for a fetch with a deploy token without the scope read_repository', async ({ world }) => {
    const project = await filled(world)
    const refused = '403 You are not allowed to download code.'
    for (const scopes of [['read_registry', 'write_registry'], ['read_package_registry']])
      expect(await asks(world, project, await tokenOf(world, `/projects/${project.id}`, { scopes }))).toBe(refused)
  })

  test('403 for a fetch with a deploy token when the repository is disabled', async ({ world }) => {
    const project = await filled(world)
    const shown = await tokenOf(world, `/projects/${project.id}`)
    await world.root.put(`/projects/${project.id}`, {
      repository_access_level: 'disabled',
      merge_requests_access_level: 'disabled',
      builds_access_level: 'disabled',
    })
    expect(await asks(world, project, shown)).toBe('403 You are not allowed to download code from this project.')
  })

  test('a deploy token outlives the user who created it', async ({ world }) => {
    const ann = await world.user()
    const project = await filled(world, { members: [[ann, 'maintainer']] })
    const made = await ann.post(`/projects/${project.id}/deploy_tokens`, { name: 'ci', scopes: ['read_repository'] })
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    await deleteNamespaceOf(world, ann.id)
    await deleteUser(world, ann.id)
    expect(await asks(world, project, made.json)).toBe(200)
  })

  test('a valid deploy token downloads LFS files and cannot upload them', async ({ world }) => {
    const project = await filled(world)
    await upload(world.root, project, 'large')
    const place = `/projects/${project.id}`
    const shown = await tokenOf(world, place)
    const robot = new Client(world.origin, { id: 0, username: shown.username, token: shown.token })
    const { actions } = (await batch(robot, project, 'download', ['large'])).json.objects[0]
    const download = () => follow(world.anonymous, 'GET', actions.download)
    expect(await download()).toMatchObject({ status: 200, text: 'large' })
    expect((await batch(robot, project, 'upload', ['more'])).status).toBe(403)
    expect((await lfs(robot, project, 'POST', 'locks', { json: { path: 'a' } })).status).toBe(403)
    expect((await lfs(robot, project, 'GET', 'locks')).status).toBe(200)
    // Its LFS credential is for this project only, in any request.
    const other = await filled(world)
    await upload(world.root, other, 'large')
    const path = `//${other.full_path}.git/gitlab-lfs/objects/${oidOf('large')}`
    expect((await world.anonymous.get(path, { headers: actions.download.header })).status).toBe(404)
    await world.root.delete(`${place}/deploy_tokens/${shown.id}`)
    expect((await download()).status).toBe(401)
  })
})
