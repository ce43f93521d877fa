import { expect } from 'vitest'
import { endShares } from '../../../../test/tables/access.ts'
import { type TestProject, test } from '../../../../test/world.ts'

test('GET /groups/:id/projects/shared lists the shared projects that the caller can see', async ({ world }) => {
  const [guest, stranger] = [await world.user(), await world.user()]
  const group = await world.group({ visibility: 'public', members: [[guest, 'guest']] })
  await world.project({ group, visibility: 'public' })
  const [open, closed, ended] = [
    await world.project({ visibility: 'public' }),
    await world.project(),
    await world.project({ visibility: 'public' }),
  ]
  for (const { id } of [open, closed, ended])
    await world.root.post(`/projects/${id}/share`, { group_id: group.id, group_access: 10 })
  await endShares(world, ended.id)
  const ids = async (who = guest, query = '') =>
    (await who.get(`/groups/${group.id}/projects/shared?sort=asc${query}`)).json.map(({ id }: TestProject) => id)
  expect(await ids()).toEqual([open.id, closed.id])
  expect(await ids(guest, '&visibility=private')).toEqual([closed.id])
  expect(await ids(stranger)).toEqual([open.id])
  expect(await ids(world.anonymous)).toEqual([open.id])
})
