import { describe, expect } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { removeMarkedProjects } from '../../src/modules/projects/projects/jobs.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { changeProject, slowDownCopies } from '../tables/projects.ts'
import { type TestGroup, test, World } from '../world.ts'

describe('a project with more issues and merge requests than half a minute is enough for', () => {
  const large = async (world: World, place: { visibility?: 'public'; group?: TestGroup } = {}) => {
    const project = await storedProject(world, { visibility: 'public', ...place })
    await openIssue(world, { project })
    await openMergeRequest(world, { project })
    return project
  }

  test('can be hidden and moved, and follows its group', async () => {
    await using world = await World.start()
    const [edited, moved] = [await large(world), await large(world)]
    const [above, below] = [await world.group(), await world.group({ visibility: 'public' })]
    const inside = await large(world, { group: below })
    await slowDownCopies(world)
    for (const change of [
      { issues_access_level: 'private' },
      { merge_requests_access_level: 'private' },
      { issues_access_level: 'enabled', merge_requests_access_level: 'enabled' },
      { visibility: 'internal' },
      { visibility: 'private' },
    ]) {
      const put = await world.root.put(`/projects/${edited.id}`, change)
      expect(put, put.text).toMatchObject({ status: 200, json: change })
    }
    const put = await world.root.put(`/projects/${moved.id}/transfer`, { namespace: above.id })
    expect(put, put.text).toMatchObject({ status: 200, json: { visibility: 'private' } })
    const post = await world.root.post(`/groups/${below.id}/transfer`, { group_id: above.id })
    expect(post.status, post.text).toBe(201)
    expect((await world.root.get(`/projects/${inside.id}`)).json.visibility).toBe('private')
  })

  test('can be deleted, alone, with its group and with its user', async () => {
    await using world = await World.start()
    await world.settings({ deletion_adjourned_period: 0 })
    const ann = await world.user()
    const { json: own } = await ann.post('/projects', { name: 'Mine', visibility: 'public' })
    expect((await ann.post(`/projects/${own.id}/issues`, { title: 'Large' })).status).toBe(201)
    const group = await world.group({ visibility: 'public' })
    const [alone, inside] = [await large(world), await large(world, { group })]
    await slowDownCopies(world)
    expect((await world.root.delete(`/projects/${alone.id}`)).status).toBe(202)
    expect((await world.root.delete(`/groups/${group.id}`)).status).toBe(202)
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    for (const { id } of [alone, inside, own]) expect((await world.root.get(`/projects/${id}`)).status).toBe(404)
  })

  test('is deleted when its deletion period is over', async () => {
    await using world = await World.start()
    const project = await large(world)
    expect((await world.root.delete(`/projects/${project.id}`)).status).toBe(202)
    await changeProject(world, project.id, { marked_for_deletion_on: '2020-01-01' })
    await slowDownCopies(world)
    await removeMarkedProjects.run({}, await world.app.open(null))
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(404)
  })
})
