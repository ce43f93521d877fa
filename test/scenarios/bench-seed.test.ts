import { expect, test } from 'vitest'
import { seed } from '../../bench/seed.ts'
import { audienceNumbers, projectNumbers, staleLabelCopies, staleOrderCopies, staleUpdates } from '../tables/issues.ts'
import { World } from '../world.ts'

test('what the benchmark inserts without triggers is what these would have written', async () => {
  await using world = await World.start()
  const projects = 100
  await seed(world.databaseUrl, { users: 50, projects, groups: 20, mergeRequests: 100, issues: 1_000 })
  const { kept, counted } = await audienceNumbers(world)
  expect(kept).toEqual(counted)
  const ids = Array.from({ length: projects }, (_, index) => index + 1)
  const numbers = await projectNumbers(world, ids)
  expect(numbers.counted.length).toBeGreaterThan(50)
  expect(numbers.kept).toEqual(numbers.counted)
  expect(await staleLabelCopies(world)).toEqual([])
  expect(await staleUpdates(world)).toEqual([])
  for (const id of ids) expect(await staleOrderCopies(world, id)).toEqual([])
})
