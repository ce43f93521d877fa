import { describe, expect, test } from 'vitest'
import { World } from '../../../../test/world.ts'

describe('restricted public visibility', () => {
  test('users are hidden from anonymous callers only, when public visibility is restricted', async () => {
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
    const project = await world.project({ visibility: 'public' })
    await ann.post(`/projects/${project.id}/star`)
    for (const list of ['users', 'starrers']) {
      expect(await world.anonymous.get(`/projects/${project.id}/${list}`), list).toMatchObject({
        status: 401,
        json: { message: '401 Unauthorized' },
      })
      expect((await ann.get(`/projects/${project.id}/${list}`)).json, list).toHaveLength(1)
    }
    for (const who of [ann, guest, world.root]) expect((await who.get(path)).status).toBe(200)
    expect((await guest.get(`/users/${guest.id}`)).status).toBe(200)
  })
})
