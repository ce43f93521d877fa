import { readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { addLargeFile, largeFilesOf } from '../../../../test/tables/pushes.ts'
import { type Client, git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { copySource } from './jobs.ts'
import { bringRepository, jobOf } from './testing.ts'

/** A source with branches, a tag, a licence, its own default branch, and parts that forks must not get. */
async function sourceWithHistory(world: World): Promise<TestProject> {
  const source = await world.project({ visibility: 'public' })
  await using work = await temporaryFolder()
  await git(work.path, 'init', '-q', '-b', 'trunk')
  await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'First')
  await git(work.path, 'tag', '-am', 'One', 'v1')
  await git(work.path, 'branch', 'side/branch')
  await git(work.path, 'push', '-q', world.remote(source, world.root), 'trunk', 'side/branch', 'v1')
  const files = { branch: 'trunk', content: 'x', commit_message: 'x' }
  await world.root.post(`/projects/${source.id}/repository/files/README.md`, files)
  await world.root.post(`/projects/${source.id}/repository/files/${encodeURIComponent('src/a.rb')}`, files)
  return source
}

const repositoryOf = async (world: World, id: number) =>
  projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })

const forkOf = async (who: Client, source: TestProject) =>
  (await who.post(`/projects/${source.id}/fork`)).json.id as number

const refsOf = (dir: string) => git(dir, 'for-each-ref', '--format=%(objectname) %(refname)')

/** Everything else in the folder of the repositories. */
const drafts = async (dir: string) => (await readdir(dirname(dir))).filter((name) => !/^\d+\.git$/.test(name))

describe('repositories of forks', () => {
  test('a fork has the branches and tags of its source, and its statistics at once', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    await bringRepository(world, id)
    expect((await ann.get(`/projects/${id}?statistics=true`)).json).toMatchObject({
      import_status: 'finished',
      import_error: null,
      default_branch: 'trunk',
      empty_repo: false,
      readme_url: expect.stringContaining('/-/blob/trunk/README.md'),
      statistics: { commit_count: 3, repository_size: expect.any(Number) },
    })
    const [from, to] = [await repositoryOf(world, source.id), await repositoryOf(world, id)]
    expect(await refsOf(to)).toBe(await refsOf(from))
    expect(await git(to, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk')
    expect(await git(to, 'fsck', '--full', '--strict')).toBe('')
    expect(await git(to, 'rev-parse', 'v1^{commit}')).toBe(await git(from, 'rev-parse', 'v1^{commit}'))
    const [branch] = (await ann.get(`/projects/${id}/protected_branches`)).json
    expect(branch.name).toBe('trunk')
    expect(await drafts(to)).toEqual([])
  })

  test('a fork tells clients the commits of tags of tags, as its source does', async ({ world }) => {
    const source = await sourceWithHistory(world)
    await using work = await temporaryFolder()
    const url = world.remote(source, world.root)
    await git(work.path, 'clone', '-q', url, '.')
    await git(work.path, 'tag', '-am', 'Of a tag', 'v2', 'v1')
    await git(work.path, 'tag', '-am', 'Of a tag of a tag', 'v3', 'v2')
    await git(work.path, 'push', '-q', url, 'v2', 'v3')
    const id = await forkOf(await world.user(), source)
    await bringRepository(world, id)
    const { http_url_to_repo } = (await world.root.get(`/projects/${id}`)).json
    const told = await git(work.path, 'ls-remote', '--tags', http_url_to_repo)
    expect(told).toBe(await git(work.path, 'ls-remote', '--tags', url))
    const commit = await git(work.path, 'rev-parse', 'v1^{commit}')
    for (const name of ['v1', 'v2', 'v3']) expect(told).toContain(`${commit}\trefs/tags/${name}^{}`)
  })

  test('a fork has no hidden refs of its source and no objects that only those reach', async ({ world }) => {
    const source = await sourceWithHistory(world)
    const from = await repositoryOf(world, source.id)
    const tree = await git(from, 'rev-parse', 'trunk^{tree}')
    const secret = await git(from, 'commit-tree', '-m', 'secret', tree)
    const lost = await git(from, 'commit-tree', '-m', 'lost', tree)
    await git(from, 'update-ref', 'refs/merge-requests/1/head', secret)
    await git(from, 'update-ref', 'refs/keep-around/x', secret)
    const id = await forkOf(await world.user(), source)
    await bringRepository(world, id)
    const to = await repositoryOf(world, id)
    expect(await git(to, 'for-each-ref', 'refs/merge-requests', 'refs/keep-around')).toBe('')
    for (const oid of [secret, lost]) await expect(git(to, 'cat-file', '-e', oid)).rejects.toThrow()
  })

  test('a fork remains after its source is removed', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    await bringRepository(world, id)
    const ctx = await contextFor(world, null)
    await ctx.git.removeRepository(await repositoryOf(world, source.id))
    await deleteProject(world, { id: source.id })
    const file = await ann.get(`/projects/${id}/repository/files/README.md/raw?ref=trunk`)
    expect(file).toMatchObject({ status: 200, text: 'x' })
    expect('forked_from_project' in (await ann.get(`/projects/${id}`)).json).toBe(false)
  })

  test('a fork has the LFS files of its source, counted, and keeps them without the source', async ({ world }) => {
    const source = await sourceWithHistory(world)
    const oid = 'ab'.repeat(32)
    await addLargeFile(world, source.id, oid, 42)
    const id = await forkOf(await world.user(), source)
    await bringRepository(world, id)
    await deleteProject(world, { id: source.id })
    expect(await largeFilesOf(world, id, 'oid', 'size')).toEqual([{ oid, size: 42 }])
    expect((await world.root.get(`/projects/${id}?statistics=true`)).json.statistics.lfs_objects_size).toBe(42)
  })

  test('a fork cannot be cloned before its repository was copied', async ({ world }) => {
    await using work = await temporaryFolder()
    const source = await sourceWithHistory(world)
    const ann = await world.user()
    const { id, path_with_namespace } = (await ann.post(`/projects/${source.id}/fork`)).json
    const fork = { url: `${world.origin}/${path_with_namespace}.git` } as TestProject
    for (const who of [ann, world.anonymous])
      await expect(git(work.path, 'clone', '-q', world.remote(fork, who), 'copy')).rejects.toMatchObject({
        stderr: expect.stringContaining('remote: A repository for this project does not exist yet.'),
      })
    await bringRepository(world, id)
    await git(work.path, 'clone', '-q', world.remote(fork, ann), 'copy')
    expect(await git(`${work.path}/copy`, 'log', '-1', '--format=%an')).not.toBe('')
  })

  test('a fork of an empty project is empty', async ({ world }) => {
    const ann = await world.user()
    const id = await forkOf(ann, await world.project({ visibility: 'public' }))
    await bringRepository(world, id)
    expect((await ann.get(`/projects/${id}`)).json).toMatchObject({
      import_status: 'finished',
      empty_repo: true,
      default_branch: null,
    })
  })
})

describe('the fork job', () => {
  test('push mirrors that a fork gets before it is copied start once it is', async ({ world }) => {
    const ann = await world.user()
    const id = await forkOf(ann, await sourceWithHistory(world))
    const [job, ctx] = [await jobOf(world, id), await contextFor(world, null)]
    const mirror = { url: 'https://203.0.114.9/x.git', enabled: true }
    expect((await ann.post(`/projects/${id}/remote_mirrors`, mirror)).status).toBe(201)
    await world.takeJobs('push_to_mirror:%')
    expect(await world.jobs(`start_push_mirrors:${id}`)).toEqual([])
    await copySource.run(job, ctx)
    expect(await world.jobs(`start_push_mirrors:${id}`)).toHaveLength(1)
  })

  test('the fork job may run twice, and does nothing when finished', async ({ world }) => {
    const ann = await world.user()
    const id = await forkOf(ann, await sourceWithHistory(world))
    const [job, ctx] = [await jobOf(world, id), await contextFor(world, null)]
    await copySource.run(job, ctx)
    const commit = { branch: 'work', start_branch: 'trunk', content: 'x', commit_message: 'x' }
    expect((await ann.post(`/projects/${id}/repository/files/new.txt`, commit)).status).toBe(201)
    await copySource.run(job, ctx)
    expect((await ann.get(`/projects/${id}/repository/files/new.txt?ref=work`)).status).toBe(200)
    const events = await eventsOf(world, { project: id, kind: 'project_imported' })
    expect(events).toHaveLength(1)
  })

  test('the fork job starts over after an interruption at any point', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    const [job, ctx, place] = [await jobOf(world, id), await contextFor(world, null), await repositoryOf(world, id)]
    // A partial draft, and a repository whose last transaction did not commit: what a kill leaves behind.
    await ctx.git.ensureRepository(`${place}.import`, { defaultBranch: 'x' })
    await ctx.git.ensureRepository(place, { defaultBranch: 'x' })
    await changeProject(world, id, { import_status: 'started' })
    await copySource.run(job, ctx)
    expect(await refsOf(place)).toBe(await refsOf(await repositoryOf(world, source.id)))
    expect(await drafts(place)).toEqual([])
  })

  test.for([
    ['lost objects', true],
    ['a damaged branch', false],
  ] as const)('a fork of a project with %s has a reason and no partial repository', async ([, isLost], { world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    const from = await repositoryOf(world, source.id)
    if (!isLost) await writeFile(`${from}/refs/heads/trunk`, '')
    for (const folder of isLost ? await readdir(`${from}/objects`) : [])
      if (/^[0-9a-f]{2}$/.test(folder)) await rm(`${from}/objects/${folder}`, { recursive: true })
    await bringRepository(world, id)
    expect((await ann.get(`/projects/${id}`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The repository of the source project could not be read.',
      empty_repo: true,
    })
    const place = await repositoryOf(world, id)
    expect(await readdir(dirname(place))).not.toContain(`${id}.git`)
    expect(await drafts(place)).toEqual([])
    // Only maintainers of the project see the reason.
    expect('import_error' in (await (await world.user()).get(`/projects/${id}`)).json).toBe(false)
  })

  test('a fork fails when its user can no longer read the source', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    await world.root.put(`/projects/${source.id}`, { visibility: 'private' })
    await bringRepository(world, id)
    expect((await ann.get(`/projects/${id}`)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The source project is not there any more.',
    })
  })

  test('a fork fails when its user loses access to the source during the copy', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceWithHistory(world)
    const id = await forkOf(ann, source)
    const ctx = await contextFor(world, null)
    const transaction: typeof ctx.transaction = async (work) => {
      await world.root.put(`/projects/${source.id}`, { visibility: 'private' })
      return ctx.transaction(work)
    }
    await copySource.run(await jobOf(world, id), { ...ctx, transaction })
    expect((await ann.get(`/projects/${id}`)).json).toMatchObject({ import_status: 'failed', empty_repo: true })
    expect(await drafts(await repositoryOf(world, id))).toEqual([])
  })

  test('the job of a deleted fork leaves nothing', async ({ world }) => {
    const ann = await world.user()
    const id = await forkOf(ann, await sourceWithHistory(world))
    const [job, ctx, place] = [await jobOf(world, id), await contextFor(world, null), await repositoryOf(world, id)]
    await ctx.git.ensureRepository(`${place}.import`, { defaultBranch: 'x' })
    await changeProject(world, id, { deleting: true })
    await copySource.run(job, ctx)
    expect(await readdir(dirname(place)).catch(() => [])).toEqual([])
  })
})
