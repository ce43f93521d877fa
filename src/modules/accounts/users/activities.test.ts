import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { today } from '../../../../test/tables/statements.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { test, unique, World } from '../../../../test/world.ts'

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

describe('GET /user/activities', () => {
  test('activities list users by last day, oldest first, of the last six months by default', async ({ world }) => {
    const people = [await world.user(), await world.user(), await world.user(), await world.user()]
    const ago = [3, 40, 400, undefined]
    for (const [index, who] of people.entries())
      await changeUser(world, who.id, { last_activity_on: ago[index] === undefined ? null : day(ago[index]) })
    const listed = async (query: string) =>
      (await world.root.get(`/user/activities?per_page=100${query}`)).json.filter(({ username }: any) =>
        people.some((who) => who.username === username),
      )
    const record = (index: number) => ({
      username: people[index]!.username,
      last_activity_on: day(ago[index]!),
      last_activity_at: day(ago[index]!),
    })
    expect(await listed('')).toEqual([record(1), record(0)])
    expect(await listed(`&from=${day(10)}`)).toEqual([record(0)])
    expect(await listed(`&from=${day(400)}`)).toEqual([record(2), record(1), record(0)])
  })

  test('activities do not list bot users', async ({ world }) => {
    const project = await world.project()
    const token = { name: 'robot', scopes: ['api'], access_level: 40 }
    const { json } = await world.root.post(`/projects/${project.id}/access_tokens`, token)
    await changeUser(world, json.user_id, { last_activity_on: today })
    const { username } = (await world.root.get(`/users/${json.user_id}`)).json
    const names = (await world.root.get(`/user/activities?per_page=100&from=${day(0)}`)).json.map(
      (each: { username: string }) => each.username,
    )
    expect(names).not.toContain(username)
  })

  test('403 for activities unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.get('/user/activities')).status).toBe(403)
    expect((await world.anonymous.get('/user/activities')).status).toBe(401)
    expect(await world.root.get('/user/activities?from=yesterday')).toMatchObject({
      status: 400,
      json: { error: 'from is invalid' },
    })
  })
})

describe('GET /avatar', () => {
  const gravatar = (email: string, points: number) =>
    `https://www.gravatar.com/avatar/${createHash('md5').update(email.toLowerCase()).digest('hex')}?s=${points}&d=identicon`

  test('GET /avatar returns the avatar URL of the service in the requested size', async ({ world }) => {
    const email = `${unique('Any')}@example.com`
    expect(await world.anonymous.get(`/avatar?email=${email}`)).toMatchObject({
      status: 200,
      json: { avatar_url: gravatar(email, 80) },
    })
    expect((await world.anonymous.get(`/avatar?email=${email}&size=32`)).json.avatar_url).toBe(gravatar(email, 64))
  })

  test("GET /avatar returns a user's own avatar only for their public e-mail", async ({ world }) => {
    const ann = await world.user()
    const email = `${ann.username}@example.com`
    await changeUser(world, ann.id, { avatar: 'me.png' })
    expect((await world.anonymous.get(`/avatar?email=${email}`)).json.avatar_url).toBe(gravatar(email, 80))
    await world.root.put(`/users/${ann.id}`, { public_email: email })
    expect((await world.anonymous.get(`/avatar?email=${email}`)).json.avatar_url).toBe(
      `${world.config.externalUrl}/uploads/-/system/user/avatar/${ann.id}/me.png`,
    )
  })

  test.for([
    ['', 'email is missing'],
    ['?email=', 'email is empty'],
    ['?email=a@b&size=x', 'size is invalid'],
    ['?email=a@b&size=0', 'size does not have a valid value'],
  ])('400 for GET /avatar%s', async ([query, error], { world }) => {
    expect(await world.anonymous.get(`/avatar${query}`)).toMatchObject({ status: 400, json: { error } })
  })

  test('403 for anonymous GET /avatar when users are hidden, and null without the service', async () => {
    await using world = await World.start()
    await world.settings({ restricted_visibility_levels: ['public'], avatar_service_enabled: false })
    expect((await world.anonymous.get('/avatar?email=a@example.com')).status).toBe(403)
    expect((await world.root.get('/avatar?email=a@example.com')).json).toEqual({ avatar_url: null })
  })
})
