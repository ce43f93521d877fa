import { expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import { askToken, imageAt, Registry } from '../../../edges/registry/testing.ts'

test('administrators list the catalog of all repositories with images, in pages', async ({ world }) => {
  const names = [unique('zz-a'), unique('zz-b')]
  const project = await world.project()
  for (const name of names) await (await Registry.open(world.root, imageAt(project, name))).image('one')
  await Registry.open(world.root, imageAt(project, 'empty'))
  const { json } = await askToken(world.root, ['registry:catalog:*'])
  const list = (query: string, token = json.token) =>
    world.anonymous.get(`//v2/_catalog${query}`, { headers: { authorization: `Bearer ${token}` } })
  const mine = names.map((name) => imageAt(project, name))
  const after = encodeURIComponent(`${imageAt(project)}/`)
  expect((await list(`?last=${after}&n=2`)).json.repositories).toEqual(mine)
  const first = await list(`?last=${after}&n=1`)
  expect(first.json.repositories).toEqual(mine.slice(0, 1))
  expect(first.headers['link']).toContain(encodeURIComponent(mine[0]!))
  const user = await askToken(await world.user(), ['registry:catalog:*'])
  expect((await list('', user.json.token)).status).toBe(401)
})
