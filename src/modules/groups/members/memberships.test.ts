import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'

describe('GET /users/:id/memberships', () => {
  test('GET /users/:id/memberships lists direct memberships for administrators', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ name: 'Ours', members: [[ann, 'developer']] })
    const project = await world.project({ group, members: [[ann, 'maintainer']] })
    const ended = await world.group()
    await world.root.post(`/groups/${ended.id}/members`, {
      user_id: ann.id,
      access_level: 10,
      expires_at: '2020-01-01',
    })
    const ofGroup = { source_id: group.id, source_name: 'Ours', source_type: 'Namespace', access_level: 30 }
    const ofProject = { source_id: project.id, source_name: project.name, source_type: 'Project', access_level: 40 }
    const list = `/users/${ann.id}/memberships`
    expect((await world.root.get(list)).json).toEqual([ofGroup, ofProject])
    expect((await world.root.get(`${list}?type=Project`)).json).toEqual([ofProject])
    expect((await world.root.get(`${list}?type=Namespace`)).json).toEqual([ofGroup])
    expect((await world.root.get(`${list}?type=Group`)).json).toEqual({ error: 'type does not have a valid value' })
    expect((await world.root.get(`${list}?per_page=1`)).headers['x-total']).toBe('2')
    expect((await ann.get(list)).status).toBe(403)
    expect((await world.anonymous.get(list)).status).toBe(401)
    expect(await world.root.get('/users/999999999/memberships')).toMatchObject({
      status: 404,
      json: { message: '404 User Not Found' },
    })
  })
})
