import { describe, expect } from 'vitest'
import { isUnlocked, lockRow, touchRow } from '../../../../test/tables/instance.ts'
import { type Answer, test, type World } from '../../../../test/world.ts'
import { type StoredProject, storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
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

/** Makes issues and merge requests of a project; returns their ids. */
const followers: Record<string, (world: World, project: StoredProject, n: number) => Promise<number>> = {
  issues: async (world, { id }, n) =>
    (await world.root.post(`/projects/${id}/issues`, { title: `Issue ${n}`, iid: 10 - n })).json.id,
  merge_requests: async (world, project, n) => (await openMergeRequest(world, { project, branch: `topic-${n}` })).id,
}

describe('what becomes less visible with its project is locked in the order of ids:', () => {
  test.for(Object.keys(followers))('%s', async (table, { world }) => {
    const project = await storedProject(world, { visibility: 'public' })
    const [first, second] = [await followers[table]!(world, project, 1), await followers[table]!(world, project, 2)]
    // Its row is now behind the other one.
    await world.db.transaction((tx) => touchRow(tx, table, first))
    const { lowered, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, table, first, 'no key update')
      const lowered = world.root.put(`/projects/${project.id}`, { visibility: 'private' })
      await world.waitsForLock(1)
      return { lowered, unlocked: await isUnlocked(tx, table, second) }
    })
    expect((await lowered).status).toBe(200)
    expect(unlocked).toBe(true)
  })
})

describe('what becomes less visible with several projects is locked in the order of ids, whatever its project:', () => {
  const changes: Record<string, (world: World, groupId: number) => Promise<Answer>> = {
    'their group moves below a private one': async (world, id) =>
      world.root.post(`/groups/${id}/transfer`, { group_id: (await world.group({ visibility: 'private' })).id }),
    'their group is deleted': async (world, id) => {
      await world.settings({ deletion_adjourned_period: 0 })
      return world.root.delete(`/groups/${id}`)
    },
  }
  test.for(Object.keys(changes))('%s', async (change, { world }) => {
    const group = await world.group({ visibility: 'public' })
    const inside = () => world.project({ group, visibility: 'public' })
    const [one, other] = [await inside(), await inside()]
    const made = async ({ id }: { id: number }) =>
      (await world.root.post(`/projects/${id}/issues`, { title: 'Issue' })).json.id
    const [first, second] = [await made(other), await made(one)]
    const { lowered, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'issues', first, 'no key update')
      const lowered = changes[change]!(world, group.id)
      await world.waitsForLock(1)
      return { lowered, unlocked: await isUnlocked(tx, 'issues', second) }
    })
    expect((await lowered).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})

test('issues become less visible before merge requests, as both lose a label or a milestone', async ({ world }) => {
  const project = await storedProject(world, { visibility: 'public' })
  const [issue, request] = [
    await followers['issues']!(world, project, 1),
    await followers['merge_requests']!(world, project, 1),
  ]
  const { lowered, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'issues', issue, 'no key update')
    const lowered = world.root.put(`/projects/${project.id}`, { visibility: 'private' })
    await world.waitsForLock(1)
    return { lowered, unlocked: await isUnlocked(tx, 'merge_requests', request) }
  })
  expect((await lowered).status).toBe(200)
  expect(unlocked).toBe(true)
})
