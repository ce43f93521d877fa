import { describe, expect, test as plain } from 'vitest'
import { test, World } from '../../../../test/world.ts'
import { openEpic } from '../epics/testing.ts'

describe('the list of epics of a group', () => {
  test('has those of subgroups, and on request those of the groups above', async ({ world }) => {
    const top = await openEpic(world)
    const middle = await openEpic(world, { group: await world.group({ parent: top.group, visibility: 'public' }) })
    const low = await openEpic(world, { group: await world.group({ parent: middle.group, visibility: 'public' }) })
    const idsOf = async (query = '') =>
      (await world.root.get(`/groups/${middle.group.id}/epics?sort=asc&${query}`)).json.map(({ id }: any) => id)
    expect(await idsOf()).toEqual([middle.id, low.id])
    expect(await idsOf('include_descendant_groups=false')).toEqual([middle.id])
    expect(await idsOf('include_ancestor_groups=true')).toEqual([top.id, middle.id, low.id])
    const [above] = (await world.root.get(`/groups/${low.group.id}/epics?include_ancestor_groups=true&sort=asc`)).json
    expect(above.references).toMatchObject({ short: '&1', relative: `${top.group.full_path}&1` })
  })

  test('has labels as records on request, and refuses values that mean nothing', async ({ world }) => {
    const { group } = await openEpic(world, { labels: 'bug' })
    await world.root.put(`/groups/${group.id}/labels/bug`, { description: 'See &1' })
    const at = `/groups/${group.id}/epics`
    const [{ labels }] = (await world.root.get(`${at}?with_labels_details=true`)).json
    expect(labels).toMatchObject([{ name: 'bug', description_html: expect.stringContaining('/-/epics/1"') }])
    for (const query of [
      'state=merged',
      'order_by=due_date',
      'author_id=1&author_username=x',
      'created_after=soon',
      'not[author_id]=x',
    ])
      expect((await world.root.get(`${at}?${query}`)).status, query).toBe(400)
    expect((await world.anonymous.get(at)).status).toBe(401)
  })
})

plain('D3-EVENTS-EPIC: plans below the highest one have no epics', async () => {
  await using world = await World.start({ STITHY_PLAN: 'premium' })
  const group = await world.group()
  const project = await world.project({ group })
  for (const path of ['epics', 'epics/1', 'epics/1/resource_label_events', 'epics/1/notes'])
    expect((await world.root.get(`/groups/${group.id}/${path}`)).status, path).toBe(404)
  const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'x', epic_id: 1 })).json
  expect(issue).not.toHaveProperty('epic')
  const said = await world.root.post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body: '/promote' })
  expect(said.json.summary).toEqual(['Could not apply promote command.'])
})
