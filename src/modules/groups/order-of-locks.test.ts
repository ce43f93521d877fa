import { describe, expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { areUnlocked, isUnlocked, lockRow, touchRow } from '../../../test/tables/instance.ts'
import { type TestGroup, test, unique, type World } from '../../../test/world.ts'
import { purgeEndedShares } from './shares/jobs.ts'

const ofRenames: Record<string, (world: World, group: TestGroup) => Promise<{ id: number }>> = {
  'projects inside': (world, group) => world.project({ group }),
  'projects that are shared with it': async (world, group) => {
    const project = await world.project()
    await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 30 })
    return project
  },
}

describe('the rename of a group locks in the order of ids', () => {
  test.for(Object.keys(ofRenames))('%s', async (which, { world }) => {
    const group = await world.group()
    const [first, second] = [await ofRenames[which]!(world, group), await ofRenames[which]!(world, group)]
    // Its row is now behind the other one.
    await world.db.transaction((tx) => touchRow(tx, 'projects', first.id))
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', first.id, 'no key update')
      const waiting = world.root.put(`/groups/${group.id}`, { path: unique('renamed') })
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'projects', second.id) }
    })
    expect((await waiting).status).toBe(200)
    expect(unlocked).toBe(true)
  })

  test('groups below it', async ({ world }) => {
    const group = await world.group()
    const [first, second] = [await world.group({ parent: group }), await world.group({ parent: group })]
    await world.db.transaction((tx) => touchRow(tx, 'namespaces', first.id))
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'namespaces', first.id, 'no key update')
      const waiting = world.root.put(`/groups/${group.id}`, { path: unique('renamed') })
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'namespaces', second.id) }
    })
    expect((await waiting).status).toBe(200)
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
