import { describe, expect, test } from 'vitest'
import { World } from '../../../test/world.ts'

describe('with the public visibility restricted', () => {
  test('accounts are hidden from nobody known, and from nobody else', async () => {
    await using world = await World.start()
    const ann = await world.user()
    const guest = await world.user({ external: true })
    await world.settings({ restricted_visibility_levels: ['public'] })

    const path = `/users/${ann.id}`
    expect(await world.anonymous.get(path)).toMatchObject({ status: 404, json: { message: '404 User Not Found' } })
    expect((await world.anonymous.get(`/users/${ann.username}/projects`)).status).toBe(404)
    expect(await world.anonymous.get(`/users?username=${ann.username}`)).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden - Not authorized to access /api/v4/users' },
    })
    for (const who of [ann, guest, world.root]) expect((await who.get(path)).status).toBe(200)
    expect((await guest.get(`/users/${guest.id}`)).status).toBe(200)
  })
})
