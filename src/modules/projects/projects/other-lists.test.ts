import { describe, expect } from 'vitest'
import { endShares, shareProject } from '../../../../test/tables/access.ts'
import { addStar } from '../../../../test/tables/projects.ts'
import { type Client, test } from '../../../../test/world.ts'

const ids = async (who: Client, path: string): Promise<number[]> => {
  const found = await who.get(path)
  expect(found.status, found.text).toBe(200)
  return found.json.map(({ id }: { id: number }) => id)
}

describe('GET /users/:user_id/projects', () => {
  test('D2-USER-ID-OR-NAME: lists the personal projects of a user that the caller can see', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const hidden = (await ann.post('/projects', { name: 'Hidden' })).json.id
    const open = (await ann.post('/projects', { name: 'Open', visibility: 'public' })).json.id
    await world.project({ members: [[ann, 'maintainer']] })
    for (const name of [ann.id, ann.username, ann.username.toUpperCase()]) {
      expect(await ids(ann, `/users/${name}/projects`)).toEqual([open, hidden])
      expect(await ids(bob, `/users/${name}/projects`)).toEqual([open])
      expect(await ids(world.anonymous, `/users/${name}/projects`)).toEqual([open])
      expect(await ids(world.root, `/users/${name}/projects`)).toEqual([open, hidden])
    }
    for (const name of ['no-such-user', '0', '2147483647', '99999999999'])
      expect(await world.root.get(`/users/${name}/projects`)).toMatchObject({
        status: 404,
        json: { message: '404 User Not Found' },
      })
  })

  test('projects of a private profile are listed for the user and administrators only', async ({ world }) => {
    const [ann, bob] = [await world.user({ private_profile: true }), await world.user()]
    const { id } = (await ann.post('/projects', { name: 'Open', visibility: 'public' })).json
    const path = `/users/${ann.id}/projects`
    expect([await ids(bob, path), await ids(world.anonymous, path)]).toEqual([[], []])
    expect([await ids(ann, path), await ids(world.root, path)]).toEqual([[id], [id]])
    expect((await bob.get(`/projects/${id}`)).status).toBe(200)
  })

  test('D2-USER-PROJECTS-QUERY: projects of a user have the filters of the project list', async ({ world }) => {
    const ann = await world.user()
    const path = `/users/${ann.id}/projects`
    const one = (await ann.post('/projects', { name: 'One', visibility: 'public' })).json.id
    const two = (await ann.post('/projects', { name: 'Two' })).json.id
    expect(await ids(ann, `${path}?order_by=name&sort=asc`)).toEqual([one, two])
    expect(await ids(ann, `${path}?visibility=public`)).toEqual([one])
    expect(await ids(ann, `${path}?search=two`)).toEqual([two])
    expect(await ids(ann, `${path}?id_after=${one}`)).toEqual([two])
    expect(await ids(world.root, `${path}?owned=true`)).toEqual([])
    expect((await ann.get(`${path}?simple=true`)).json[0]).not.toHaveProperty('visibility')
    expect((await world.anonymous.get(path)).json[0]).not.toHaveProperty('visibility')
  })
})

describe('GET /groups/:id/projects', () => {
  test('D2-GROUP-PROJECTS-DEFAULTS: newest first, with shared projects, without subgroups', async ({ world }) => {
    const group = await world.group()
    const inner = await world.group({ parent: group })
    const old = await world.project({ group })
    const below = await world.project({ group: inner })
    const shared = await world.project()
    const young = await world.project({ group })
    await shareProject(world, shared.id, group.id, 30)
    const path = `/groups/${group.id}/projects`
    expect(await ids(world.root, path)).toEqual([young.id, shared.id, old.id])
    expect(await ids(world.root, `${path}?with_shared=false`)).toEqual([young.id, old.id])
    expect(await ids(world.root, `${path}?include_subgroups=true`)).toEqual([young.id, shared.id, below.id, old.id])
    expect(await ids(world.root, `${path}?order_by=id&sort=asc&with_shared=false`)).toEqual([old.id, young.id])
    await endShares(world, shared.id)
    expect(await ids(world.root, path)).toEqual([young.id, old.id])
  })

  test('D2-GROUPS-ANON: projects of a group have filters, and simple records anonymously', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'developer']] })
    const open = await world.project({ group, visibility: 'public' })
    const hidden = await world.project({ group, issues_access_level: 'disabled' })
    await world.archive(open)
    const path = `/groups/${group.id}/projects`
    expect(await ids(ann, path)).toEqual([hidden.id, open.id])
    expect(await ids(ann, `${path}?archived=true`)).toEqual([open.id])
    expect(await ids(ann, `${path}?archived=false`)).toEqual([hidden.id])
    expect(await ids(ann, `${path}?visibility=private`)).toEqual([hidden.id])
    expect(await ids(ann, `${path}?search=${open.path}`)).toEqual([open.id])
    expect(await ids(ann, `${path}?with_issues_enabled=true`)).toEqual([open.id])
    expect(await ids(ann, `${path}?with_merge_requests_enabled=true`)).toEqual([hidden.id, open.id])
    expect(await ids(ann, `${path}?min_access_level=30`)).toEqual([hidden.id, open.id])
    expect(await ids(ann, `${path}?min_access_level=40`)).toEqual([])
    expect(await ids(ann, `${path}?owned=true`)).toEqual([])
    await addStar(world, ann.id, open.id)
    expect(await ids(ann, `${path}?starred=true`)).toEqual([open.id])
    expect(await ids(world.anonymous, path)).toEqual([open.id])
    expect((await world.anonymous.get(path)).json[0]).not.toHaveProperty('visibility')
    expect((await ann.get(`${path}?simple=true`)).json[0]).not.toHaveProperty('visibility')
    expect(await (await world.user()).get(`/groups/${(await world.group()).id}/projects`)).toMatchObject({
      status: 404,
      json: { message: '404 Group Not Found' },
    })
  })
})
