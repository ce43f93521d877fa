import { expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

test('merge requests of a milestone are listed if the caller can read them', async ({ world }) => {
  const ann = await world.user()
  const group = await world.group()
  const [open, closed] = await Promise.all([
    storedProject(world, { group, visibility: 'private', members: [[ann, 'reporter']] }),
    storedProject(world, { group, visibility: 'private' }),
  ])
  const own = (await world.root.post(`/projects/${open.id}/milestones`, { title: 'own' })).json
  const shared = (await world.root.post(`/groups/${group.id}/milestones`, { title: 'shared' })).json
  const [one, two, three] = [
    await openMergeRequest(world, { project: open, milestone_id: own.id }),
    await openMergeRequest(world, { project: open, milestone_id: shared.id, branch: 'other' }),
    await openMergeRequest(world, { project: closed, milestone_id: shared.id }),
  ]
  const ids = async (who: Client, path: string) =>
    (await who.get(`${path}/merge_requests`)).json.map(({ id }: { id: number }) => id)
  expect(await ids(ann, `/projects/${open.id}/milestones/${own.id}`)).toEqual([one.id])
  expect(await ids(ann, `/groups/${group.id}/milestones/${shared.id}`)).toEqual([two.id])
  expect(await ids(world.root, `/groups/${group.id}/milestones/${shared.id}`)).toEqual([three.id, two.id])
  const [listed] = (await ann.get(`/groups/${group.id}/milestones/${shared.id}/merge_requests`)).json
  expect(listed).toMatchObject({ milestone: { id: shared.id, group_id: group.id }, iid: two.iid })
  const none = { status: 404, json: { message: '404 Not found' } }
  expect(await ann.get(`/projects/${open.id}/milestones/${shared.id}/merge_requests`)).toMatchObject(none)
})
