import { expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'

const names = async (who: Client, whose: Client, list: 'followers' | 'following'): Promise<string[]> =>
  (await who.get(`/users/${whose.id}/${list}`)).json.map(({ username }: Client) => username)

test('users follow and unfollow each other', async ({ world }) => {
  const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
  expect(await ann.post(`/users/${bob.id}/follow`)).toMatchObject({ status: 201, json: { id: bob.id } })
  expect((await ann.post(`/users/${bob.id}/follow`)).status).toBe(304)
  expect((await ann.post(`/users/${ann.id}/follow`)).status).toBe(304)
  await eve.post(`/users/${bob.id}/follow`)
  expect(await names(world.anonymous, bob, 'followers')).toEqual([ann.username, eve.username])
  expect(await names(world.anonymous, ann, 'following')).toEqual([bob.username])
  expect((await ann.post(`/users/${bob.id}/unfollow`)).status).toBe(201)
  expect((await ann.post(`/users/${bob.id}/unfollow`)).status).toBe(304)
  expect(await names(bob, bob, 'followers')).toEqual([eve.username])
  expect((await world.anonymous.post(`/users/${bob.id}/follow`)).status).toBe(401)
  expect(await ann.post('/users/0/follow')).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
})

test('users with a private profile do not appear in lists of followers, nor have any', async ({ world }) => {
  const [ann, bob] = [await world.user({ private_profile: true }), await world.user()]
  await ann.post(`/users/${bob.id}/follow`)
  await bob.post(`/users/${ann.id}/follow`)
  for (const list of ['followers', 'following'] as const) {
    for (const whose of [ann, bob]) {
      expect(await names(world.anonymous, whose, list)).toEqual([])
      const other = whose === ann ? bob : ann
      expect(await names(ann, whose, list)).toEqual([other.username])
      expect(await names(world.root, whose, list)).toEqual([other.username])
    }
  }
})
