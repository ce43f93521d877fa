import { expect } from 'vitest'
import { isUnlocked, lockRow, touchRow } from '../../../../test/tables/instance.ts'
import { test } from '../../../../test/world.ts'
import { followingTables, lowerAudience } from './queries.ts'

test('audiences are lowered in the order of ids, in which others lock two issues', async ({ world }) => {
  const project = await world.project({ visibility: 'public' })
  const made = async () => (await world.root.post(`/projects/${project.id}/issues`, { title: 'Issue' })).json.id
  const [first, second] = [await made(), await made()]
  // Its row is now behind the other one.
  await world.db.transaction((tx) => touchRow(tx, 'issues', first))
  const { lowered, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'issues', first, 'no key update')
    const lowered = world.db.transaction((other) => lowerAudience(other, followingTables[0]!, [second, first], 0))
    await world.waitsForLock(1)
    return { lowered, unlocked: await isUnlocked(tx, 'issues', second) }
  })
  expect(await lowered).toBe(2)
  expect(unlocked).toBe(true)
})
