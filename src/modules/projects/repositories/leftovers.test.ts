import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
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
