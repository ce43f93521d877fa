import { expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { test } from '../../../../test/world.ts'
import type { Found } from '../../../git/objects/text-search.ts'
import { GitError } from '../../../git/runner/git-error.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { readableSources, searchTogether } from './sources.ts'

test('a search that timed out returns partial results, fails without any, and is not cached', async ({ world }) => {
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, { group })
  project.repository.commit({ a: 'a' })
  const ctx = await contextFor(world, null)
  const { sources } = await readableSources(ctx, [group.id])
  expect(sources.map(({ project: { id } }) => id)).toEqual([project.id])
  let answer: Found<object> = { found: [], complete: false, timedOut: true }
  const search = () =>
    searchTogether(
      ctx,
      sources,
      'x',
      async () => answer,
      () => 1,
    )
  await expect(search()).rejects.toMatchObject({ kind: 'unprocessable' })
  answer = { ...answer, found: [{}] }
  expect(await search()).toMatchObject(answer)
  const whole = { found: [{}, {}], complete: true, timedOut: false }
  answer = whole
  expect(await search()).toMatchObject(whole)
  answer = { ...answer, found: [] }
  expect(await search()).toMatchObject(whole)
})

test('results from a broken repository are not cached', async ({ world }) => {
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, { group })
  const tip = project.repository.commit({ a: 'a' })
  const ctx = await contextFor(world, null)
  const { sources } = await readableSources(ctx, [group.id])
  const found = async (fails: boolean) => {
    const search = async () => {
      if (fails) throw new GitError('grep', 128, null, `fatal: unable to read ${tip}`)
      return { found: [{}], complete: true, timedOut: false }
    }
    const { found, complete } = await searchTogether(ctx, sources, 'x', search, () => 1)
    return [found.length, complete]
  }
  expect(await found(true)).toEqual([0, false])
  expect(await found(false)).toEqual([1, true])
})
