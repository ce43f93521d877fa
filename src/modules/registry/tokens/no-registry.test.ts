import { expect } from 'vitest'
import { test, World } from '../../../../test/world.ts'
import { askToken } from '../../../edges/registry/testing.ts'

test('a service without a registry answers 404 to clients, and its lists are 404', async () => {
  await using world = await World.start({ STITHY_REGISTRY_URL: 'off' })
  const project = await world.project()
  expect(await askToken(world.root, [])).toMatchObject({
    status: 404,
    json: { errors: [{ code: 'UNAVAILABLE', message: 'registry not enabled' }] },
  })
  expect((await world.root.get('//v2/')).status).toBe(404)
  expect((await world.root.get(`/projects/${project.id}/registry/repositories`)).status).toBe(404)
  expect((await world.root.get(`/projects/${project.id}/registry/repositories/1/tags`)).status).toBe(404)
})
