import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { hasSideRepository, sideRepositoryRows } from '../../../../test/tables/side-repositories.ts'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { removeSideRepositories } from '../../pushes/side-repositories/jobs.ts'
import { refreshSnippetJob } from './refresh.ts'
import { createSnippet } from './testing.ts'

/** The clone URL of a snippet for a user. */
function urlOf({ http_url_to_repo }: { http_url_to_repo: string }, who?: Client): string {
  const at = new URL(http_url_to_repo)
  if (who?.token) Object.assign(at, { username: who.username, password: who.token })
  return at.toString()
}

/** Whether a user can clone it. */
async function clones(record: any, who?: Client): Promise<boolean> {
  await using folder = await temporaryFolder()
  return await git(folder.path, 'clone', '-q', urlOf(record, who), 'copy').then(
    async () => (await git(join(folder.path, 'copy'), 'ls-files')) === 'a.rb',
    () => false,
  )
}

/** Clones as an administrator, changes files and commits; resolves with the folder and a push to the remote. */
async function edited(world: World, record: any, folder: string, files: Record<string, string>) {
  await git(folder, 'clone', '-q', urlOf(record, world.root), 'work')
  const work = join(folder, 'work')
  for (const [name, content] of Object.entries(files)) await writeFile(join(work, name), content)
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'Change')
  return { work, push: (who: Client, ...refs: string[]) => git(work, 'push', '-q', urlOf(record, who), ...refs) }
}

/** Runs the queued job after a push. */
async function refresh(world: World, id: number): Promise<void> {
  for (const { payload } of await world.takeJobs(`refresh_snippet:${id}`))
    await refreshSnippetJob.run(payload, await world.app.open(null))
}

describe('git access to snippets over HTTP', () => {
  test('a push changes files, size and time of the snippet, and its raw content at once', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ visibility: 'public', members: [[ann, 'reporter']] })
    const { id, at, record } = await createSnippet(world, { project, author: ann })
    const { push } = await edited(world, record, folder.path, { 'a.rb': 'puts 2\n', 'b.rb': 'puts 3\n' })
    await push(ann, 'master')
    expect((await ann.get(`${at}/raw`)).text).toBe('puts 2\n')
    await refresh(world, id)
    const { json } = await ann.get(at)
    expect(json.files.map(({ path }: { path: string }) => path)).toEqual(['a.rb', 'b.rb'])
    expect(json.updated_at > record.updated_at).toBe(true)
    const { statistics } = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
    expect(statistics.snippets_size).toBe(14)
    expect((await ann.put(at, { files: [{ action: 'delete', file_path: 'b.rb' }] })).json.files).toHaveLength(1)
  })

  test('D2-SNIPPET-VISIBILITY: who may read a snippet of a project clones it, others learn nothing', async ({
    world,
  }) => {
    const author = await world.user()
    const levels: Level[] = ['guest', 'reporter', 'maintainer']
    const members = await Promise.all(
      levels.map(async (level): Promise<[Client, Level]> => [await world.user(), level]),
    )
    const project = await world.project({ visibility: 'public', members: [...members, [author, 'reporter']] })
    const audiences: Record<string, Client | undefined> = {
      anonymous: undefined,
      external: await world.user({ external: true }),
      stranger: await world.user(),
      ...Object.fromEntries(members.map(([client, level]) => [level, client])),
      author,
    }
    const insiders = [...levels, 'author']
    const readers = { private: insiders, internal: ['stranger', ...insiders], public: Object.keys(audiences) }
    for (const [visibility, may] of Object.entries(readers)) {
      const { record } = await createSnippet(world, { project, author, visibility })
      for (const [name, who] of Object.entries(audiences))
        expect(await clones(record, who), `${name} ${visibility}`).toBe(may.includes(name))
    }
    const { record } = await createSnippet(world, { project, author, visibility: 'public' })
    await world.root.put(`/projects/${project.id}`, { snippets_access_level: 'private' })
    expect([await clones(record, audiences['stranger']), await clones(record, members[0]![0])]).toEqual([false, true])
    await world.root.put(`/projects/${project.id}`, { snippets_access_level: 'disabled' })
    expect(await clones(record, author)).toBe(false)
  })

  test('personal snippets are cloned by those who may read them, and pushed to by their author', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const hidden = await createSnippet(world, { author: ann, visibility: 'private' })
    const open = await createSnippet(world, { author: ann, visibility: 'public' })
    expect([await clones(hidden.record, ann), await clones(hidden.record, bob)]).toEqual([true, false])
    expect([await clones(open.record), await clones(open.record, bob)]).toEqual([true, true])
    const { push } = await edited(world, open.record, folder.path, { 'a.rb': 'puts 2\n' })
    await expect(push(bob, 'master')).rejects.toThrow('You are not allowed to update this snippet.')
    await push(ann, 'master')
    expect((await bob.get(`${open.at}/raw`)).text).toBe('puts 2\n')
  })

  test('authors and maintainers push, but not to internal snippets of others, nor to archived projects', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const [author, developer, maintainer] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project({
      visibility: 'public',
      members: [
        [author, 'reporter'],
        [developer, 'developer'],
        [maintainer, 'maintainer'],
      ],
    })
    const { at, record } = await createSnippet(world, { project, author, visibility: 'public' })
    const { push } = await edited(world, record, folder.path, { 'a.rb': 'puts 2\n' })
    const refused = 'You are not allowed to update this snippet.'
    await expect(push(developer, 'master')).rejects.toThrow(refused)
    await world.root.put(at, { visibility: 'internal' })
    await expect(push(maintainer, 'master')).rejects.toThrow(refused)
    await world.root.put(at, { visibility: 'public' })
    await world.archive(project)
    await expect(push(author, 'master')).rejects.toThrow(refused)
    await world.root.post(`/projects/${project.id}/unarchive`)
    await push(maintainer, 'master')
  })

  test('the limits of snippets hold for pushes', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { record } = await createSnippet(world, { visibility: 'public' })
    const { work, push } = await edited(world, record, folder.path, { big: 'x'.repeat(2000) })
    const refused = (...refs: string[]) => expect(push(world.root, ...refs)).rejects
    await refused('master:other').toThrow('A snippet has only the branch master.')
    await refused('master:refs/tags/v1').toThrow('A snippet has only the branch master.')
    await refused(':master').toThrow()
    await world.settings({ snippet_size_limit: 1000 })
    await refused('master').toThrow('is larger than 1000 bytes')
    await world.restoreSettings()
    await git(work, 'rm', '-q', 'big', 'a.rb')
    await git(work, 'commit', '-qm', 'Empty')
    await refused('master').toThrow('at least 1 file')
    for (let n = 0; n < 11; n++) await writeFile(join(work, `n${n}`), 'x')
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Many')
    await refused('master').toThrow('at most 10 file')
    await git(work, 'rm', '-q', ...Array.from({ length: 10 }, (_, n) => `n${n}`))
    await symlink('/etc/passwd', join(work, 'link'))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Link')
    await refused('master').toThrow('no links or submodules')
    await git(work, 'rm', '-q', 'link')
    await git(work, 'commit', '-qm', 'Fine')
    await push(world.root, 'master')
  })

  test('deploy tokens do not reach snippets', async ({ world }) => {
    const project = await world.project()
    const { record } = await createSnippet(world, { project, visibility: 'private' })
    const made = await world.root.post(`/projects/${project.id}/deploy_tokens`, {
      name: 'x',
      scopes: ['read_repository'],
    })
    const { username, token } = made.json
    expect(await clones(record, { username, token } as Client)).toBe(false)
  })

  test('a snippet stays reachable after its project was renamed, and its repository ends with it', async ({
    world,
  }) => {
    const project = await world.project({ visibility: 'public' })
    const { id, at, record } = await createSnippet(world, { project, visibility: 'public' })
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-new` })
    const renamed = (await world.root.get(at)).json
    expect(renamed.http_url_to_repo).toContain('-new/snippets/')
    expect([await clones(renamed), await clones(record)]).toEqual([true, true])
    const [{ id: repositoryId }] = await sideRepositoryRows(world, { snippet_id: id }, 'id')
    await world.root.delete(at)
    await removeSideRepositories.run({}, await world.app.open(null))
    expect(await hasSideRepository(world, repositoryId)).toBe(false)
    expect(await clones(renamed)).toBe(false)
  })
})

describe.skipIf(!hasSsh)('git access to snippets over SSH (needs the OpenSSH client)', () => {
  test('a snippet is cloned and pushed with the key of its author, and hidden from others', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const { at, record } = await createSnippet(world, { author: ann, visibility: 'private' })
    const key = await withKey(folder.path, ann)
    const url = sshUrl(world, { full_path: `snippets/${record.id}` })
    expect(await gitSsh(world, key, folder.path, 'clone', '-q', url, 'copy')).toMatchObject({ code: 0 })
    const work = join(folder.path, 'copy')
    await writeFile(join(work, 'a.rb'), 'puts 4\n')
    await git(work, 'commit', '-qam', 'Change')
    expect(await gitSsh(world, key, work, 'push', '-q', 'origin', 'master')).toMatchObject({ code: 0 })
    expect((await ann.get(`${at}/raw`)).text).toBe('puts 4\n')
    const other = await withKey(folder.path, bob)
    expect(await gitSsh(world, other, folder.path, 'ls-remote', url)).toMatchObject({
      code: 128,
      err: expect.stringContaining('could not be found'),
    })
  })
})
