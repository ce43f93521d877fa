import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changesOfSide, pushesToSide, sideRepositoryRows } from '../../../../test/tables/side-repositories.ts'
import {
  type Client,
  git,
  gitMessages,
  type TestProject,
  temporaryFolder,
  test,
  type World,
} from '../../../../test/world.ts'

/** The URL of the wiki of a project or group, with credentials. */
function wikiUrl(world: World, holder: { full_path: string }, who?: Client): string {
  const at = new URL(`${world.origin}/${holder.full_path}.wiki.git`)
  if (who) Object.assign(at, { username: who.username, password: who.token ?? '' })
  return at.toString()
}

/** A working tree with one page on `branch`. */
async function workTree(folder: string, branch = 'master', file = 'home.md'): Promise<string> {
  await git(folder, 'init', '-q', '-b', branch, 'work')
  const work = join(folder, 'work')
  await writeFile(join(work, file), '# Home\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First page')
  return work
}

/** Pushes a first page to the wiki of a project. */
async function pushed(world: World, project: TestProject, who: Client, branch = 'master'): Promise<string> {
  await using folder = await temporaryFolder()
  const work = await workTree(folder.path, branch)
  await git(work, 'push', '-q', wikiUrl(world, project, who), branch)
  return await git(work, 'rev-parse', 'HEAD')
}

const clone = async (url: string): Promise<string> => {
  await using folder = await temporaryFolder()
  await git(folder.path, 'clone', '-q', url, 'copy')
  return await git(join(folder.path, 'copy'), 'ls-files')
}

describe('git access to wikis over HTTP', () => {
  test('a pushed wiki is cloned again, apart from the code of its project', async ({ world }) => {
    const project = await world.project({ initialize_with_readme: true })
    expect(await clone(wikiUrl(world, project, world.root))).toBe('')
    await pushed(world, project, world.root, 'trunk')
    expect(await clone(wikiUrl(world, project, world.root))).toBe('home.md')
    expect(await clone(world.remote(project, world.root))).toBe('README.md')
    const [row] = await sideRepositoryRows(world, { project_id: project.id }, 'id', 'default_branch')
    expect(row.default_branch).toBe('trunk')
    expect(await pushesToSide(world, row.id)).toMatchObject([{ state: 'done', transport: 'http' }])
    expect(await changesOfSide(world, row.id)).toMatchObject([{ project_id: project.id, actor_id: world.root.id }])
    expect(await eventsOf(world, { project: project.id, kind: 'pushed' }, 'kind')).toHaveLength(1)
  })

  test('developers push, guests of a private project clone, and strangers learn nothing', async ({ world }) => {
    const [developer, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      visibility: 'private',
      members: [
        [developer, 'developer'],
        [guest, 'guest'],
      ],
    })
    await pushed(world, project, developer)
    expect(await clone(wikiUrl(world, project, guest))).toBe('home.md')
    await expect(pushed(world, project, guest)).rejects.toThrow('You are not allowed to push code to this project.')
    await expect(clone(wikiUrl(world, project, stranger))).rejects.toThrow('could not be found')
    await expect(clone(wikiUrl(world, project))).rejects.toThrow('terminal prompts disabled')
    expect(
      (await world.anonymous.get(`//${project.full_path}.wiki.git/info/refs?service=git-upload-pack`)).status,
    ).toBe(401)
  })

  test('anyone clones the wiki of a public project; it is for members if the feature is, and for no one without', async ({
    world,
  }) => {
    const project = await world.project({ visibility: 'public' })
    const stranger = await world.user()
    await pushed(world, project, world.root)
    expect(await clone(wikiUrl(world, project))).toBe('home.md')
    await world.root.put(`/projects/${project.id}`, { wiki_access_level: 'private' })
    await expect(clone(wikiUrl(world, project))).rejects.toThrow('terminal prompts disabled')
    await expect(clone(wikiUrl(world, project, stranger))).rejects.toThrow('not allowed to download')
    await world.root.put(`/projects/${project.id}`, { wiki_access_level: 'disabled' })
    await expect(clone(wikiUrl(world, project, world.root))).rejects.toThrow('not allowed to download')
  })

  test('the scopes of a token hold for wikis', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const reader = await world.as(ann, ['read_repository'])
    const writer = await world.as(ann, ['write_repository'])
    await pushed(world, project, writer)
    expect(await clone(wikiUrl(world, project, reader))).toBe('home.md')
    await expect(pushed(world, project, reader)).rejects.toThrow('You are not allowed to upload code.')
  })

  test('a push to the wiki of an archived project is refused', async ({ world }) => {
    const project = await world.project()
    await pushed(world, project, world.root)
    await world.archive(project)
    await expect(pushed(world, project, world.root)).rejects.toThrow('You are not allowed to push code')
    expect(await clone(wikiUrl(world, project, world.root))).toBe('home.md')
  })

  test('a wiki keeps its content when its project is renamed; clones find it at the old path, pushes are refused', async ({
    world,
  }) => {
    const project = await world.project()
    await pushed(world, project, world.root)
    const { json } = await world.root.put(`/projects/${project.id}`, { path: `${project.path}-new` })
    const renamed = { full_path: json.path_with_namespace }
    expect(await clone(wikiUrl(world, renamed, world.root))).toBe('home.md')
    expect(await clone(wikiUrl(world, project, world.root))).toBe('home.md')
    await expect(pushed(world, project, world.root)).rejects.toThrow(`was moved to '${renamed.full_path}.wiki'`)
  })

  test('the default branch of a wiki cannot be deleted, and hidden refs cannot be pushed', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = wikiUrl(world, project, world.root)
    await git(work, 'push', '-q', url, 'master')
    await expect(git(work, 'push', '-q', url, ':master')).rejects.toThrow('default branch')
    await expect(git(work, 'push', '-q', url, 'master:refs/keep-around/x')).rejects.toThrow('not yours to change')
    await git(work, 'push', '-q', url, 'master:draft')
    await git(work, 'push', '-q', url, ':draft')
  })

  test('a page with a path that leaves a checkout is refused', async ({ world }) => {
    await using folder = await temporaryFolder()
    const work = await workTree(folder.path)
    const blob = await git(work, 'rev-parse', 'HEAD:home.md')
    await writeFile(join(folder.path, 'raw'), Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]))
    const bad = await git(work, 'hash-object', '-t', 'tree', '-w', '--literally', join(folder.path, 'raw'))
    const commit = await git(work, 'commit-tree', '-m', 'Bad', bad)
    const project = await world.project()
    await expect(
      git(work, 'push', '-q', wikiUrl(world, project, world.root), `${commit}:refs/heads/master`),
    ).rejects.toThrow(/hasDotgit|unpack/)
    expect(await clone(wikiUrl(world, project, world.root))).toBe('')
  })

  test('nothing is created by a fetch of, or a push to, the wiki of a project that does not exist', async ({
    world,
  }) => {
    const group = await world.group()
    const at = { full_path: `${group.full_path}/missing` }
    await expect(clone(wikiUrl(world, at, world.root))).rejects.toThrow('could not be found')
  })

  test('push options are ignored, and a push larger than the limit is refused', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = await workTree(folder.path)
    const url = wikiUrl(world, project, world.root)
    const said = await gitMessages(work, 'push', '-o', 'merge_request.create', url, 'master')
    expect(said).not.toContain('merge request')
    await writeFile(join(work, 'large'), randomBytes(3 * 1024 * 1024))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Large')
    await world.settings({ receive_max_input_size: 1 })
    await expect(git(work, 'push', '-q', url, 'master')).rejects.toThrow('pack exceeds maximum allowed size')
  })

  test('a user who loses access while a push is under way is refused', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    await pushed(world, project, ann)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 })
    await expect(pushed(world, project, ann)).rejects.toThrow('You are not allowed to push code to this project.')
  })

  test('members of a group clone its wiki and developers push to it; others do not, even in a public group', async ({
    world,
  }) => {
    const [developer, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const group = await world.group({ visibility: 'public' })
    for (const [who, access_level] of [
      [developer, 30],
      [guest, 10],
    ] as const)
      await world.root.post(`/groups/${group.id}/members`, { user_id: who.id, access_level })
    await using folder = await temporaryFolder()
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', wikiUrl(world, group, developer), 'master')
    expect(await clone(wikiUrl(world, group, guest))).toBe('home.md')
    await expect(git(work, 'push', wikiUrl(world, group, guest), 'master:x')).rejects.toThrow('not allowed to push')
    await expect(clone(wikiUrl(world, group, stranger))).rejects.toThrow('not allowed to download')
    await expect(clone(wikiUrl(world, group))).rejects.toThrow('terminal prompts disabled')
    const [row] = await sideRepositoryRows(world, { group_id: group.id })
    expect(await changesOfSide(world, row.id)).toMatchObject([{ group_id: group.id, project_id: null }])
  })
})

describe.skipIf(!hasSsh)('git access to wikis over SSH (needs OpenSSH)', () => {
  test('developers push and clone, guests of the private project only clone, strangers learn nothing', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const [developer, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      visibility: 'private',
      members: [
        [developer, 'developer'],
        [guest, 'guest'],
      ],
    })
    const keys = {
      developer: await withKey(folder.path, developer),
      guest: await withKey(folder.path, guest),
      stranger: await withKey(folder.path, stranger),
    }
    const url = sshUrl(world, { full_path: `${project.full_path}.wiki` })
    const work = await workTree(folder.path)
    const run = (who: keyof typeof keys, ...words: string[]) => gitSsh(world, keys[who], work, ...words)
    expect(await run('guest', 'push', url, 'master')).toMatchObject({
      code: 128,
      err: expect.stringContaining('Stithy: You are not allowed to push code to this project.'),
    })
    expect((await run('developer', 'push', '-q', url, 'master')).code).toBe(0)
    expect(await run('guest', 'ls-remote', url)).toMatchObject({
      code: 0,
      out: expect.stringContaining('refs/heads/master'),
    })
    expect(await run('stranger', 'ls-remote', url)).toMatchObject({
      code: 128,
      err: expect.stringContaining('Stithy: The project you were looking for could not be found.'),
    })
    const [row] = await sideRepositoryRows(world, { project_id: project.id })
    expect(await pushesToSide(world, row.id)).toMatchObject([
      { state: 'done', transport: 'ssh', actor_id: developer.id },
    ])
  })

  test('the wiki of a top-level group, whose path has no slash, is cloned over SSH', async ({ world }) => {
    await using folder = await temporaryFolder()
    const group = await world.group()
    const key = await withKey(folder.path, world.root)
    const work = await workTree(folder.path)
    const url = sshUrl(world, { full_path: `${group.full_path}.wiki` })
    expect((await gitSsh(world, key, work, 'push', '-q', url, 'master')).code).toBe(0)
    expect((await gitSsh(world, key, work, 'ls-remote', url)).out).toContain('refs/heads/master')
  })
})
