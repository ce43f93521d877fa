import { mkdir, readdir, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test, World } from '../../../../test/world.ts'
import { checkRepositories } from './check.ts'
import { removeRepositoryLeftovers } from './jobs.ts'
import { projectRepositoryDir } from './location.ts'

const uuid = '35ed7102-08f9-4977-8523-5c6e5f1d8e66'

/** Beside the repository of a new project: what a crash leaves of making and removing it, and a fork that is being filled. */
async function crashed(world: World) {
  const { id } = await world.project({ initialize_with_readme: true })
  const ctx = await contextFor(world, null)
  const place = projectRepositoryDir(ctx, { id, repository_storage: 'default' })
  for (const suffix of [`.${uuid}.new`, `.import.${uuid}.new`, `.${uuid}.removed`, '.import'])
    await mkdir(`${place}${suffix}/objects`, { recursive: true })
  const beside = async () => (await readdir(dirname(place))).filter((name) => name.startsWith(`${id}.git`)).toSorted()
  return { ctx, place, beside }
}

describe('what a crash leaves beside a repository', () => {
  test('goes in the night, when it is old', async ({ world }) => {
    const { ctx, place, beside } = await crashed(world)
    const old = new Date(Date.now() - 2 * 60 * 60_000)
    await utimes(`${place}.${uuid}.new`, old, old)
    await utimes(`${place}.import.${uuid}.new`, old, old)
    await removeRepositoryLeftovers.run({}, ctx)
    expect(await beside()).toEqual(
      ['', '.import', `.${uuid}.removed`].map((suffix) => basename(place) + suffix).toSorted(),
    )
  })

  test('goes with the repository', async ({ world }) => {
    const { ctx, place, beside } = await crashed(world)
    await ctx.git.removeRepository(place)
    // A fork that is being filled is its job's.
    await ctx.git.removeRepository(`${place}.import`)
    expect(await beside()).toEqual([])
  })

  test('is no finding of a check, nor is a repository that is being filled or removed', async () => {
    // One of its own: a check reads every repository that there is.
    await using world = await World.start()
    const { ctx, place } = await crashed(world)
    const gone = await world.project({ initialize_with_readme: true })
    await world.rows('update projects set deleting = true where id = $1', [gone.id])
    await mkdir(join(dirname(place), 'stranger'))
    const findings = await checkRepositories(ctx, ['default'], () => {})
    expect(findings.filter((line) => line.includes(basename(place)) || line.includes(`/${gone.id}.git`))).toEqual([])
    expect(findings).toContain(`${join(dirname(place), 'stranger')} belongs to no project`)
  })
})
