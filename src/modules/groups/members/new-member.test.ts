import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'

test('a member whom the previous release adds no longer requests access and has their notification level', async ({
  world,
}) => {
  const ann = await world.user()
  const { id } = await world.project({ visibility: 'public', request_access_enabled: true })
  expect((await ann.post(`/projects/${id}/access_requests`)).status).toBe(201)
  await ann.put(`/projects/${id}/notification_settings`, { level: 'watch' })
  // Like a connection of the previous release, this one does not set `stithy.rules`.
  await world.rows('insert into members (project_id, user_id, access_level) values ($1, $2, 20)', [id, ann.id])
  expect((await world.root.get(`/projects/${id}/access_requests`)).json).toEqual([])
  expect(
    await world.rows('select notification_level from members where project_id = $1 and user_id = $2', [id, ann.id]),
  ).toEqual([{ notification_level: 2 }])
})
