import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { beginOfPush } from '../../../../test/begun-push.ts'
import { contextFor } from '../../../../test/contexts.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { test, World } from '../../../../test/world.ts'
import { openDatabase } from '../../../db/database.ts'
import { pairInstallation } from '../installation/pair.ts'
import { checkRepositories } from './check.ts'
import { removeRepositoryLeftovers } from './jobs.ts'
import { projectRepositoryDir, storagesIn } from './location.ts'

const uuid = '35ed7102-08f9-4977-8523-5c6e5f1d8e66'

/** Beside the repository of a new project: leftovers of a crash during creation and removal, and a fork in progress. */
async function crashed(world: World) {
  const { id } = await world.project({ initialize_with_readme: true })
  const ctx = await contextFor(world, null)
  const place = projectRepositoryDir(ctx, { id, repository_storage: 'default' })
  for (const suffix of [`.${uuid}.new`, `.import.${uuid}.new`, `.${uuid}.removed`, '.import'])
    await mkdir(`${place}${suffix}/objects`, { recursive: true })
  const beside = async () => (await readdir(dirname(place))).filter((name) => name.startsWith(`${id}.git`)).toSorted()
  return { ctx, place, beside }
}

describe('leftovers of crashes beside a repository', () => {
  test('a nightly job removes old leftovers beside a repository', async ({ world }) => {
    const { ctx, place, beside } = await crashed(world)
    const old = new Date(Date.now() - 2 * 60 * 60_000)
    await utimes(`${place}.${uuid}.new`, old, old)
    await utimes(`${place}.import.${uuid}.new`, old, old)
    await removeRepositoryLeftovers.run({}, ctx)
    expect(await beside()).toEqual(
      ['', '.import', `.${uuid}.removed`].map((suffix) => basename(place) + suffix).toSorted(),
    )
  })

  test('removing a repository removes the leftovers beside it', async ({ world }) => {
    const { ctx, place, beside } = await crashed(world)
    await ctx.git.removeRepository(place)
    // The job of a fork removes its own folder.
    await ctx.git.removeRepository(`${place}.import`)
    expect(await beside()).toEqual([])
  })

  test('repository checks do not report leftovers, or repositories in progress or removal', async () => {
    // A world of its own: a check reads every repository.
    await using world = await World.start()
    const { ctx, place } = await crashed(world)
    const gone = await world.project({ initialize_with_readme: true })
    await changeProject(world, gone.id, { deleting: true })
    await mkdir(join(dirname(place), 'stranger'))
    const findings = await checkRepositories(ctx, ['default'], () => {})
    expect(findings.filter((line) => line.includes(basename(place)) || line.includes(`/${gone.id}.git`))).toEqual([])
    expect(findings).toContain(`${join(dirname(place), 'stranger')} belongs to no project`)
  })
})

/** Sets the time of all files and folders in it, and of itself. */
async function age(path: string, hours: number): Promise<void> {
  const then = new Date(Date.now() - hours * 60 * 60_000)
  for (const name of await readdir(path, { recursive: true })) await utimes(join(path, name), then, then)
  await utimes(path, then, then)
}

describe('objects of a push that was killed', () => {
  test('a nightly job removes what is a day old, but no file of a push that is running', async ({ world }) => {
    const { id, full_path } = await world.project({ initialize_with_readme: true })
    const ctx = await contextFor(world, null)
    const objects = join(projectRepositoryDir(ctx, { id, repository_storage: 'default' }), 'objects')
    const temporary = async () => (await readdir(objects)).filter((name) => name.startsWith('tmp_')).toSorted()
    const [old, young, mixed] = ['old', 'young', 'mixed'].map((name) => `tmp_objdir-incoming-${name}`)
    for (const name of [old!, young!, mixed!]) {
      await mkdir(join(objects, name, 'pack'), { recursive: true })
      await writeFile(join(objects, name, 'pack', 'tmp_pack_1'), 'PACK')
    }
    await writeFile(join(objects, 'pack', 'tmp_pack_2'), 'PACK')
    await age(join(objects, old!), 25)
    await age(join(objects, mixed!), 25)
    // Git writes to the pack only.
    await writeFile(join(objects, mixed!, 'pack', 'tmp_pack_1'), 'PACK again')
    await utimes(join(objects, 'pack', 'tmp_pack_2'), 0, 0)

    const push = request(`${world.origin}/${full_path}.git/git-receive-pack`, {
      method: 'POST',
      auth: `root:${world.root.token}`,
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    })
    push.on('error', () => {})
    push.write(beginOfPush(1000))
    await expect.poll(temporary, { timeout: waitMs }).toHaveLength(4)
    const running = (await temporary()).find((name) => ![old, young, mixed].includes(name))!
    await age(join(objects, running), 25)
    await removeRepositoryLeftovers.run({}, ctx)
    expect(await temporary()).toEqual([old, young, mixed, running].toSorted())

    push.destroy()
    await expect.poll(temporary, { timeout: waitMs }).toEqual([mixed, old, young])
    await expect.poll(() => ctx.git.runner.ownersOfTransfers(), { timeout: waitMs }).not.toContain(dirname(objects))
    await removeRepositoryLeftovers.run({}, ctx)
    expect(await temporary()).toEqual([mixed, young])
    expect((await readdir(join(objects, 'pack'))).filter((name) => name.startsWith('tmp_'))).toEqual([])
  })
})

test('a storage may be a disk of its own, with a folder lost+found that the service may not read', async () => {
  await using world = await World.start()
  const { ctx, place } = await crashed(world)
  const { repositoriesDir } = ctx
  // Root can read every folder, but not this one.
  for (const folder of [repositoriesDir, join(repositoriesDir, 'default')])
    await symlink('lost+found', join(folder, 'lost+found'))
  await writeFile(join(repositoriesDir, 'default', 'README'), 'The disk of the first storage\n')
  await writeFile(join(repositoriesDir, 'readme'), 'The storages\n')
  const old = new Date(Date.now() - 2 * 60 * 60_000)
  await utimes(`${place}.${uuid}.new`, old, old)
  await removeRepositoryLeftovers.run({}, ctx)
  expect(existsSync(`${place}.${uuid}.new`)).toBe(false)
  const storages = await storagesIn(repositoriesDir)
  const folder = { dataDir: world.config.dataDir, repositoriesDir }
  await expect(checkRepositories(ctx, storages, () => {})).resolves.not.toContainEqual(
    expect.stringContaining('lost+found'),
  )
  await using db = openDatabase(world.databaseUrl, { readers: 1, writers: 1 })
  await expect(pairInstallation(db, folder)).resolves.toBeUndefined()
})
