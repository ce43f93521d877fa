import { expect, test } from 'vitest'
import { activeAdministrators, changeUser, revokeAllAdministrators } from '../../../../test/tables/users.ts'
import { type Client, World } from '../../../../test/world.ts'

const refused = {
  status: 403,
  json: { message: '403 Forbidden - Without this user there would be no active administrator' },
}
const away = (world: World, who: Client) =>
  changeUser(world, who.id, { last_activity_on: null, current_sign_in_at: null })

test('the last active administrator cannot be removed by any call', async () => {
  await using world = await World.start()
  const [blocked, bot] = [await world.user({ admin: true }), await world.user({ admin: true })]
  await world.root.post(`/users/${blocked.id}/block`)
  await changeUser(world, bot.id, { kind: 'bot' })

  expect(await world.root.put(`/users/${world.root.id}`, { admin: false })).toMatchObject(refused)
  await away(world, world.root)
  expect(await world.root.post(`/users/${world.root.id}/deactivate`)).toMatchObject(refused)
  expect(await world.root.delete(`/users/${world.root.id}`)).toMatchObject(refused)
  // By a user who was an administrator when the request began.
  for (const name of ['block', 'ban']) {
    const ann = await world.user({ admin: true })
    const asking = ann.post(`/users/${world.root.id}/${name}`)
    await Promise.all([asking, world.root.put(`/users/${ann.id}`, { admin: false })])
    const left = await activeAdministrators(world)
    expect(left).toHaveLength(1)
    await changeUser(world, world.root.id, { state: 'active', admin: true })
    await changeUser(world, ann.id, { admin: false })
    // Cached tokens have the old rights for less than a second.
    await expect.poll(async () => (await world.root.get('/application/settings')).status).toBe(200)
  }
  expect((await world.root.get('/user')).json).toMatchObject({ is_admin: true, state: 'active' })
})

test('one administrator remains when two remove each other concurrently', async () => {
  await using world = await World.start()
  for (const remove of [
    (by: Client, who: Client) => by.put(`/users/${who.id}`, { admin: false }),
    (by: Client, who: Client) => by.post(`/users/${who.id}/block`),
    (by: Client, who: Client) => by.delete(`/users/${who.id}`),
  ]) {
    await revokeAllAdministrators(world)
    await changeUser(world, world.root.id, { admin: true, state: 'active' })
    await expect.poll(async () => (await world.root.get('/application/settings')).status).toBe(200)
    const people = [await world.user({ admin: true }), await world.user({ admin: true })] as const
    await changeUser(world, world.root.id, { admin: false })
    await Promise.all([remove(people[0], people[1]), remove(people[1], people[0])])
    const left = await activeAdministrators(world)
    expect(left).toHaveLength(1)
  }
})

test('an administrator who is not the last active one can be removed', async () => {
  await using world = await World.start()
  const [ann, bob] = [await world.user({ admin: true }), await world.user({ admin: true })]
  expect((await world.root.put(`/users/${ann.id}`, { admin: false })).status).toBe(200)
  await world.root.post(`/users/${bob.id}/block`)
  expect((await world.root.put(`/users/${bob.id}`, { admin: false, name: 'Bob' })).status).toBe(200)
  expect((await world.root.put(`/users/${world.root.id}`, { admin: true, name: 'Root' })).status).toBe(200)
  expect((await world.root.delete(`/users/${bob.id}`)).status).toBe(204)
})
