import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { contextFor, locate } from '../../../../test/contexts.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { git, test, unique, World } from '../../../../test/world.ts'
import { repositoriesDir } from '../../../config.ts'
import { bringRepository } from '../../lifecycle/forks/testing.ts'
import { removeProject } from '../projects/jobs.ts'
import { checkRepositories } from './check.ts'
import { projectRepositoryDir, repositoryDir } from './location.ts'
import { openForWriting, openRepository } from './open.ts'

/** A folder of another file system than the one of the tests; undefined if there is none. */
const otherDisk = ['/dev/shm', '/var/tmp'].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
)

const rootOf = (world: World) => join(world.config.dataDir, 'lost+found')
const lostOf = async (world: World, id: number) =>
  (await readdir(rootOf(world)).catch(() => [])).filter((name) => name.startsWith(`default-${id}.git-`))

/** Two projects with a file each, with the repository of the second at the place of the first. */
async function swapped(world: World) {
  const [mine, other] = [
    await world.project({ visibility: 'public', initialize_with_readme: true }),
    await world.project({ initialize_with_readme: true }),
  ]
  const ctx = await contextFor(world, null)
  const [place, from] = [await locate(world, mine.id), await locate(world, other.id)]
  const dir = projectRepositoryDir(ctx, place)
  // The service has read and cached both.
  expect((await world.anonymous.get(`/projects/${mine.id}/repository/commits`)).json).toHaveLength(1)
  expect((await world.root.get(`/projects/${other.id}/repository/commits`)).json).toHaveLength(1)
  await rm(dir, { recursive: true })
  await rename(projectRepositoryDir(ctx, from), dir)
  const head = await git(dir, 'rev-parse', 'master')
  return { ctx, mine, place, dir, head }
}

describe('a repository at the place of another project', () => {
  test('a repository of another project is not read, and moves to lost+found', async ({ world }) => {
    const { mine, dir, head } = await swapped(world)
    expect((await world.anonymous.get(`/projects/${mine.id}/repository/commits/${head}`)).status).toBe(404)
    await expect.poll(() => lostOf(world, mine.id)).toHaveLength(1)
    expect(existsSync(dir)).toBe(false)
    const [name] = await lostOf(world, mine.id)
    expect(await git(join(rootOf(world), name!), 'rev-parse', 'master')).toBe(head)
  })

  test.skipIf(!otherDisk)(
    'it moves from a storage that is a disk of its own (skipped with one disk only)',
    async ({ world }) => {
      const storage = unique('disk')
      const disk = await mkdtemp(join(otherDisk!, 'stithy-'))
      const storages = repositoriesDir(world.config)
      await mkdir(storages, { recursive: true })
      await symlink(disk, join(storages, storage))
      onTestFinished(() => rm(disk, { recursive: true }))
      const { id } = await world.project({ repository_storage: storage, initialize_with_readme: true })
      const dir = projectRepositoryDir(await contextFor(world, null), { id, repository_storage: storage })
      const head = await git(dir, 'rev-parse', 'master')
      await changeProject(world, id, { repository_key: randomUUID() })
      expect((await world.root.get(`/projects/${id}/repository/commits/${head}`)).status).toBe(404)
      await expect.poll(() => existsSync(dir)).toBe(false)
      const lost = (await readdir(rootOf(world))).filter((name) => name.startsWith(`${storage}-${id}.git-`))
      expect(lost).toHaveLength(1)
      expect(await git(join(rootOf(world), lost[0]!), 'rev-parse', 'master')).toBe(head)
      expect(await git(join(rootOf(world), lost[0]!), 'fsck', '--strict')).toBe('')
    },
  )

  test('a repository of another project is not sent to git clients', async ({ world }) => {
    const { mine } = await swapped(world)
    expect(await git('.', 'ls-remote', mine.url)).toBe('')
  })

  test('the first write replaces a repository of another project with a new one', async ({ world }) => {
    const { ctx, mine, place, dir, head } = await swapped(world)
    const repo = await openForWriting(ctx, { ...place, default_branch: 'master' })
    expect(repo.gitDir).toBe(dir)
    await expect(git(dir, 'cat-file', '-e', head)).rejects.toThrow()
    expect(await lostOf(world, mine.id)).toHaveLength(1)
  })

  test('concurrent writes move a repository of another project once and keep the new one', async ({ world }) => {
    const { ctx, mine, place, dir } = await swapped(world)
    const writers = Array.from({ length: 20 }, () => openForWriting(ctx, { ...place, default_branch: 'master' }))
    await Promise.all(writers)
    expect(await lostOf(world, mine.id)).toHaveLength(1)
    expect(existsSync(join(dir, 'HEAD'))).toBe(true)
    expect(openRepository(ctx, place).gitDir).toBe(dir)
  })

  test('deleting a project does not delete a repository of another project', async ({ world }) => {
    const { ctx, mine, dir } = await swapped(world)
    await changeProject(world, mine.id, { deleting: true })
    await removeProject.run({ projectId: mine.id }, ctx)
    expect(existsSync(dir)).toBe(false)
    expect(await lostOf(world, mine.id)).toHaveLength(1)
  })

  test('a repository without a key is not adopted', async ({ world }) => {
    const { ctx, mine, place, dir } = await swapped(world)
    await rm(join(dir, 'stithy-project'))
    expect(await openRepository(ctx, place).exists()).toBe(false)
    await expect.poll(() => lostOf(world, mine.id)).toHaveLength(1)
  })

  test('a fork does not overwrite a repository of another project', async ({ world }) => {
    const source = await world.project({ visibility: 'public', initialize_with_readme: true })
    const ann = await world.user()
    const { id } = (await ann.post(`/projects/${source.id}/fork`)).json
    const ctx = await contextFor(world, null)
    const dir = projectRepositoryDir(ctx, await locate(world, id))
    await mkdir(join(dir, 'objects'), { recursive: true })
    await writeFile(join(dir, 'HEAD'), 'ref: refs/heads/secret\n')
    await bringRepository(world, id)
    expect(await git(dir, 'rev-parse', 'master')).toMatch(/^[0-9a-f]{40}$/)
    expect(await lostOf(world, id)).toHaveLength(1)
  })

  test('a check reports a repository of another project and moves it', async () => {
    // A world of its own: a check reads every repository.
    await using world = await World.start({ STITHY_LOG_LEVEL: 'silent' })
    const { ctx, mine } = await swapped(world)
    const found = await checkRepositories(ctx, ['default'], () => {})
    expect(found).toContain(
      `${mine.full_path}: the repository in its place does not carry its key, and goes to lost+found`,
    )
    const [name] = await lostOf(world, mine.id)
    expect(found).toContain(`${join(rootOf(world), name!)} was in the place of another repository`)
  })
})

describe('creating a project', () => {
  /** The id of the next project, and the folder in its place. */
  async function inTheWay(world: World) {
    const id = (await world.project()).id + 1
    const dir = repositoryDir(join(world.config.dataDir, 'repositories'), 'default', id)
    await mkdir(dir, { recursive: true })
    return { id, dir }
  }

  test('creating a project moves a folder in its place to lost+found', async () => {
    await using world = await World.start({ STITHY_LOG_LEVEL: 'silent' })
    const { id, dir } = await inTheWay(world)
    expect((await world.project()).id).toBe(id)
    expect(existsSync(dir)).toBe(false)
    expect(await lostOf(world, id)).toHaveLength(1)
    expect((await world.anonymous.get('//-/metrics')).text).toContain('\nstithy_repositories_lost_and_found 1\n')
  })

  test('400 when a folder in the place of a new project cannot be moved', async () => {
    await using world = await World.start({ STITHY_LOG_LEVEL: 'silent' })
    const { dir } = await inTheWay(world)
    await mkdir(dirname(rootOf(world)), { recursive: true })
    await writeFile(rootOf(world), 'a file, and no folder')
    expect(await world.root.post('/projects', { name: 'In the way' })).toMatchObject({
      status: 400,
      json: { message: { base: ['There is already a repository with that name on disk'] } },
    })
    expect(existsSync(dir)).toBe(true)
  })
})
