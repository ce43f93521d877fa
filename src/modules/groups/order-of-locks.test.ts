import { describe, expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { areUnlocked, isUnlocked, lockRow } from '../../../test/tables/instance.ts'
import { type TestGroup, test, unique, type World } from '../../../test/world.ts'
import { purgeEndedShares } from './shares/jobs.ts'

type Row = { id: number }

/** Whether the second row is not locked yet while the rename of the group waits for the first. */
async function isLaterUnlocked(world: World, group: TestGroup, table: string, first: Row, second: Row) {
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, table, first.id, 'no key update')
    const waiting = world.root.put(`/groups/${group.id}`, { path: unique('renamed') })
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, table, second.id) }
  })
  expect((await waiting).status).toBe(200)
  return unlocked
}

describe('the rename of a group locks in the order of ids', () => {
  test('projects that are shared with it, the later one first', async ({ world }) => {
    const group = await world.group()
    const [first, second] = [await world.project(), await world.project()]
    for (const { id } of [second, first])
      expect((await world.root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 30 })).status).toBe(
        201,
      )
    expect(await isLaterUnlocked(world, group, 'projects', first, second)).toBe(true)
  })

  test('groups below it, whatever is below these', async ({ world }) => {
    const group = await world.group()
    const [parent, first] = [await world.group({ parent: group }), await world.group({ parent: group })]
    const second = await world.group({ parent })
    expect(await isLaterUnlocked(world, group, 'namespaces', first, second)).toBe(true)
  })
})

test('the daily end of shares waits for no project that is locked, and ends its share the next time', async ({
  world,
}) => {
  const [project, group] = [await world.project(), await world.group()]
  const share = { group_id: group.id, group_access: 30, expires_at: '2020-01-01' }
  expect((await world.root.post(`/projects/${project.id}/share`, share)).status).toBe(201)
  const ctx = await contextFor(world, null)
  const unlocked = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id)
    await purgeEndedShares.run({}, ctx)
    return areUnlocked(tx, 'project_group_links', 'project_id', project.id)
  })
  expect(unlocked).toBe(true)
  await purgeEndedShares.run({}, ctx)
  expect(await world.db.transaction((tx) => areUnlocked(tx, 'project_group_links', 'project_id', project.id))).toBe(
    false,
  )
})
