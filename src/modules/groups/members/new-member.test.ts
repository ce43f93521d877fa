import { expect } from 'vitest'
import { addMember, notificationLevelOf } from '../../../../test/tables/access.ts'
import { test } from '../../../../test/world.ts'

test('a member whom the previous release adds no longer requests access and has their notification level', async ({
  world,
}) => {
  const ann = await world.user()
  const { id } = await world.project({ visibility: 'public', request_access_enabled: true })
  expect((await ann.post(`/projects/${id}/access_requests`)).status).toBe(201)
  await ann.put(`/projects/${id}/notification_settings`, { level: 'watch' })
  // Like a connection of the previous release, this one does not set `stithy.rules`.
  await addMember(world, { project: id }, ann.id, 20)
  expect((await world.root.get(`/projects/${id}/access_requests`)).json).toEqual([])
  expect(await notificationLevelOf(world, id, ann.id)).toEqual([{ notification_level: 2 }])
})
