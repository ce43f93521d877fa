import { describe, expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { areUnlocked, isUnlocked, lockRow } from '../../../test/tables/instance.ts'
import { type Answer, type TestGroup, test, unique, type World } from '../../../test/world.ts'
import { purgeEndedShares } from './shares/jobs.ts'

type Row = { id: number }

/** Whether the second row is not locked yet while the rename of the group waits for the first. */
async function isLaterUnlocked(world: World, group: TestGroup, table: string, first: Row, second: Row, what = 'path') {
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, table, first.id, 'no key update')
    const waiting = world.root.put(`/groups/${group.id}`, { [what]: unique('renamed') })
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, table, second.id) }
  })
  expect((await waiting).status).toBe(200)
  return unlocked
}

describe('the rename of a group locks in the order of ids', () => {
  test.for(['path', 'name'])('projects that are shared with it, the later one first: %s', async (what, { world }) => {
    const group = await world.group()
    const [first, second] = [await world.project(), await world.project()]
    for (const { id } of [second, first])
      expect((await world.root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 30 })).status).toBe(
        201,
      )
    expect(await isLaterUnlocked(world, group, 'projects', first, second, what)).toBe(true)
  })

  test('groups below it, whatever is below these', async ({ world }) => {
    const group = await world.group()
    const [parent, first] = [await world.group({ parent: group }), await world.group({ parent: group })]
    const second = await world.group({ parent })
    expect(await isLaterUnlocked(world, group, 'namespaces', first, second)).toBe(true)
  })
})

test('the rename of a group waits for a group inside before it locks routes, as the rename of a project there does', async ({
  world,
}) => {
  const group = await world.group()
  const inside = await world.group({ parent: group })
  const project = await world.project({ group })
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'namespaces', inside.id, 'share')
    const waiting = world.root.put(`/groups/${group.id}`, { path: unique('renamed') })
    await world.waitsForLock(1)
    return { waiting, unlocked: await areUnlocked(tx, 'routes', 'project_id', project.id) }
  })
  expect((await waiting).status).toBe(200)
  expect(unlocked).toBe(true)
})

const changes: Record<string, (world: World, group: TestGroup) => Promise<Answer>> = {
  rename: (world, group) => world.root.put(`/groups/${group.id}`, { path: unique('renamed') }),
  transfer: async (world, group) =>
    world.root.post(`/groups/${group.id}/transfer`, { group_id: (await world.group()).id }),
}

describe('what is locked inside a group is waited for without a lock', () => {
  test.for(Object.keys(changes))('of another project, by a %s', async (change, { world }) => {
    const group = await world.group()
    const [one, other] = [await world.project({ group }), await world.project({ group })]
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', other.id, 'no key update')
      const waiting = changes[change]!(world, group)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'projects', one.id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })

  test('of another group, as the deletion of the first one needs it', async ({ world }) => {
    const group = await world.group()
    const inside = await world.group({ parent: group })
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'namespaces', inside.id, 'key share')
      const waiting = changes['transfer']!(world, group)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'namespaces', group.id) }
    })
    expect((await waiting).status).toBe(201)
    expect(unlocked).toBe(true)
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
