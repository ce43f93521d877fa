import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { areUnlocked, isUnlocked, lockRow, lockRowsOf, touchRow } from '../../../../test/tables/instance.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { removeUser } from './jobs.ts'

/** Two issues of a user, of which the older row is behind the other one, as after an edit. */
async function written(world: World, ann: Client) {
  const project = await world.project({ members: [[ann, 'developer']] })
  const made = async () => (await ann.post(`/projects/${project.id}/issues`, { title: 'Issue' })).json
  const [first, second] = [await made(), await made()]
  await world.db.transaction((tx) => touchRow(tx, 'issues', first.id))
  return { first, second, at: `/projects/${project.id}/issues` }
}

describe('what a deleted user wrote is locked in the order of ids', () => {
  test.for([
    ['is moved to the placeholder account', false],
    ['is deleted, too', true],
  ] as const)('while it %s', async ([, hard], { world }) => {
    const ann = await world.user()
    const { first, second } = await written(world, ann)
    expect((await world.root.delete(`/users/${ann.id}?hard_delete=${hard}`)).status).toBe(204)
    const ctx = await contextFor(world, null)
    const { removed, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'issues', first.id, 'no key update')
      const removed = removeUser.run({ userId: ann.id, hard }, ctx)
      await world.waitsForLock(1)
      return { removed, unlocked: await isUnlocked(tx, 'issues', second.id) }
    })
    await removed
    expect(unlocked).toBe(true)
  })
})

test('awards of a deleted user are not locked yet while their deletion waits for the issue that counts them', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { first, at } = await written(world, bob)
  await world.root.post(`/projects/${first.project_id}/members`, { user_id: ann.id, access_level: 30 })
  expect((await ann.post(`${at}/${first.iid}/award_emoji`, { name: 'thumbsup' })).status).toBe(201)
  expect((await world.root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
  const ctx = await contextFor(world, null)
  const { removed, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'issues', first.id, 'no key update')
    const removed = removeUser.run({ userId: ann.id, hard: true }, ctx)
    await world.waitsForLock(1)
    return { removed, unlocked: await areUnlocked(tx, 'award_emoji', 'user_id', ann.id) }
  })
  await removed
  expect(unlocked).toBe(true)
  expect((await world.root.get(`${at}/${first.iid}`)).json.upvotes).toBe(0)
})

test('issues of a deleted user are not locked yet while their deletion waits for the project that counts them', async ({
  world,
}) => {
  const ann = await world.user()
  const { first } = await written(world, ann)
  expect((await world.root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
  const ctx = await contextFor(world, null)
  const { removed, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', first.project_id, 'no key update')
    // As the creation of an issue does that refers to them.
    await lockRowsOf(tx, 'issue_counts', 'project_id', first.project_id)
    const removed = removeUser.run({ userId: ann.id, hard: true }, ctx)
    await world.waitsForLock(1)
    return { removed, unlocked: await isUnlocked(tx, 'issues', first.id, 'key share') }
  })
  await removed
  expect(unlocked).toBe(true)
})

test('an epic of a deleted user is not locked yet while its deletion waits for an epic below it', async ({ world }) => {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'developer']] })
  const epic = async (client: Client, parent_id?: number) =>
    (await client.post(`/groups/${group.id}/epics`, { title: 'Epic', parent_id })).json.id
  const above = await epic(ann)
  const below = await epic(world.root, above)
  expect((await world.root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
  const ctx = await contextFor(world, null)
  const { removed, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'epics', below, 'no key update')
    const removed = removeUser.run({ userId: ann.id, hard: true }, ctx)
    await world.waitsForLock(1)
    return { removed, unlocked: await isUnlocked(tx, 'epics', above, 'key share') }
  })
  await removed
  expect(unlocked).toBe(true)
})

test('two users who gave an issue the same award are removed at the same time', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { first, at } = await written(world, ann)
  await world.root.post(`/projects/${first.project_id}/members`, { user_id: bob.id, access_level: 30 })
  for (const client of [ann, bob])
    expect((await client.post(`${at}/${first.iid}/award_emoji`, { name: 'thumbsup' })).status).toBe(201)
  for (const { id } of [ann, bob]) expect((await world.root.delete(`/users/${id}`)).status).toBe(204)
  const ctx = await contextFor(world, null)
  const removed = await world.db.transaction(async (tx) => {
    for (const { id } of [ann, bob]) await lockRowsOf(tx, 'award_emoji', 'user_id', id)
    const removed = [ann, bob].map(({ id }) => removeUser.run({ userId: id, hard: false }, ctx))
    await world.waitsForLock(2)
    // They go on after this transaction.
    return { ended: Promise.all(removed) }
  })
  await removed.ended
  expect((await world.root.get(`${at}/${first.iid}`)).json.upvotes).toBe(1)
})
