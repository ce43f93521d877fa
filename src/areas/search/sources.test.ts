import { expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { test } from '../../../test/world.ts'
import type { Found } from '../../git/text-search.ts'
import { storedProject } from '../commits/testing.ts'
import { readableSources, searchTogether } from './sources.ts'

test('a search that took too long shows what it found, is refused with nothing, and is not remembered', async ({
  world,
}) => {
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
  expect(await search()).toEqual(answer)
  const whole = { found: [{}, {}], complete: true, timedOut: false }
  answer = whole
  expect(await search()).toEqual(whole)
  answer = { ...answer, found: [] }
  expect(await search()).toEqual(whole)
})
