import { expect } from 'vitest'
import { countersOf, countHits, endPeriod } from '../../../../test/tables/users.ts'
import { test, unique } from '../../../../test/world.ts'
import { endOldRateCounters } from './jobs.ts'

test('counters of rate limits are deleted when their periods have ended, and no others', async ({ world }) => {
  const [ended, current] = [unique('ended'), unique('current')]
  for (const key of [ended, current]) await countHits(world, key, 3)
  await endPeriod(world, ended)
  await endOldRateCounters.run({}, await world.app.open(null))
  expect([await countersOf(world, ended), await countersOf(world, current)]).toEqual([[], [{ hits: 3 }]])
})
